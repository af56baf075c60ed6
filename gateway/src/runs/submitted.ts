import type { RpcErrorType } from '@signalbox/crds';
import type { Run } from './run.ts';

/** `joined`: the run keeps nothing of this request, it was there before. */
export type Submitted =
  | { ok: true; run: Run; joined: boolean }
  | { ok: false; type: RpcErrorType; message: string; retryAfterMs?: number };

const RETRY_AFTER_MS = 1000;

export function atCapacity(message: string): Extract<Submitted, { ok: false }> {
  return { ok: false, type: 'at_capacity', message, retryAfterMs: RETRY_AFTER_MS };
}
