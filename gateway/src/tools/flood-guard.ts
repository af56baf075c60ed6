/** Counts what nobody asked for: more than this in one window and the server is flooding. */
export interface FloodLimits {
  windowMs: number;
  maxMessages: number;
  maxBytes: number;
}

export const FLOOD_LIMITS: FloodLimits = { windowMs: 10_000, maxMessages: 5000, maxBytes: 32 * 1024 * 1024 };

/** Returns a counter that answers false once the window's limit is passed. `now` in milliseconds. */
export function createFloodGuard(limits: FloodLimits, now: () => number): (bytes: number) => boolean {
  let windowStart = now();
  let messages = 0;
  let bytes = 0;
  return (size) => {
    if (now() - windowStart > limits.windowMs) {
      windowStart = now();
      messages = 0;
      bytes = 0;
    }
    messages += 1;
    bytes += size;
    return messages <= limits.maxMessages && bytes <= limits.maxBytes;
  };
}
