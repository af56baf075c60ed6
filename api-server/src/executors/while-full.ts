import { setTimeout as sleep } from 'node:timers/promises';
import type { CallResult } from './rpc-client.ts';

/** How long a backend that is full or about to stop is left alone: as long as it says, each time longer, in milliseconds. */
const LEFT_ALONE = { least: 1_000, most: 15_000 };

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
    const asked = Math.max(answer.retryAfterMs ?? 0, LEFT_ALONE.least) * 2 ** Math.min(refusals, 4);
    try {
      await wait(Math.min(asked, LEFT_ALONE.most) * (0.75 + Math.random() / 4), signal);
    } catch {
      return answer;
    }
    if (signal.aborted) return answer;
  }
}
