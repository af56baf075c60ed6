/** Counts unrequested output: more than this in one window is a flood. */
export interface FloodLimits {
  windowMs: number;
  maxMessages: number;
  maxBytes: number;
}

export const FLOOD_LIMITS: FloodLimits = { windowMs: 10_000, maxMessages: 5000, maxBytes: 32 * 1024 * 1024 };

/** Counts so many bytes and messages; false once the window's limit is passed. */
export type FloodGuard = (bytes: number, messages?: number) => boolean;

/** `now` in milliseconds. */
export function createFloodGuard(limits: FloodLimits, now: () => number): FloodGuard {
  let windowStart = now();
  let messages = 0;
  let bytes = 0;
  return (size, count = 1) => {
    if (now() - windowStart > limits.windowMs) {
      windowStart = now();
      messages = 0;
      bytes = 0;
    }
    messages += count;
    bytes += size;
    return messages <= limits.maxMessages && bytes <= limits.maxBytes;
  };
}
