import type { RpcErrorType } from '@signalbox/crds';
import type { Run } from './run.ts';

export type Submitted =
  | { ok: true; run: Run }
  | { ok: false; type: RpcErrorType; message: string; retryAfterMs?: number };

const RETRY_AFTER_MS = 1000;

export function atCapacity(message: string): Extract<Submitted, { ok: false }> {
  return { ok: false, type: 'at_capacity', message, retryAfterMs: RETRY_AFTER_MS };
}
