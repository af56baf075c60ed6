import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Named in the error: "waited 60000 ms for <what>". */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Asks `probe` until it answers something other than null, undefined or false, and returns that. A probe that throws is
 * asked again; its last error becomes the cause. It is asked once at least. Default: 60,000 ms, every 25 ms.
 */
export async function waitFor<T>(
  probe: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { what, timeoutMs = 60_000, everyMs = 25, signal }: WaitOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const value = await probe();
      if (value !== null && value !== undefined && value !== false) return value;
    } catch (error) {
      cause = error;
    }
    await delay(everyMs, undefined, { signal });
  } while (performance.now() < deadline);
  throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause });
}
