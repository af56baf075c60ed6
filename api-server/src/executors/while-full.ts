import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import type { CallResult } from './rpc-client.ts';

/** How long a backend that is full or about to stop is left alone: as long as it says, each time longer, in milliseconds. */
const LEFT_ALONE = { leastMs: 1_000, mostMs: 15_000 };

export interface Patience {
  signal: AbortSignal;
  /** Once, at the first refusal. */
  onFull(message: string): void;
  wait?(milliseconds: number, signal: AbortSignal): Promise<unknown>;
}

/**
 * Asks again where the backend had no room: what it did not take in has not begun, so that a full gateway, or one that is
 * being replaced, costs a step time and not its result. Ends with the refusal when `signal` does.
 */
export async function whileFull(ask: () => Promise<CallResult>, patience: Patience): Promise<CallResult> {
  const { signal, onFull, wait = (ms) => sleep(ms, undefined, { signal }) } = patience;
  for (let refusals = 0; ; refusals++) {
    const answer = await ask();
    if (answer.ok || answer.type !== 'at_capacity' || !answer.retryable) return answer;
    if (refusals === 0) onFull(answer.message);
    const firstMs = Math.max(answer.retryAfterMs ?? 0, LEFT_ALONE.leastMs);
    try {
      await wait(backoffMs(refusals + 1, { firstMs, mostMs: LEFT_ALONE.mostMs, jitter: 0.25 }), signal);
    } catch {
      return answer;
    }
    if (signal.aborted) return answer;
  }
}
