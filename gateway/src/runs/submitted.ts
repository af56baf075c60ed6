import type { RpcErrorType } from '@signalbox/crds';
import type { FinishedRun, Run, RunWatcher } from './run.ts';

/** `joined`: the run keeps nothing of this request, it was there before. */
export type Submitted =
  | { ok: true; run: Run; answer: Promise<FinishedRun>; joined: boolean }
  | { ok: false; type: RpcErrorType; message: string; retryAfterMs?: number };

const RETRY_AFTER_MS = 1000;

export function atCapacity(message: string): Extract<Submitted, { ok: false }> {
  return { ok: false, type: 'at_capacity', message, retryAfterMs: RETRY_AFTER_MS };
}

export function refusedSchema({
  message: why,
  passing,
}: {
  message: string;
  passing: boolean;
}): ReturnType<typeof atCapacity> {
  const message = `output_schema: ${why}`;
  return passing ? atCapacity(message) : { ok: false, type: 'invalid_params', message };
}

/** From now on the watcher follows the run. */
export function watched(run: Run, watcher: RunWatcher, joined: boolean): Submitted {
  const answer = run.watch(watcher);
  return answer ? { ok: true, run, answer, joined } : atCapacity('too many wait for the answer of this run');
}
