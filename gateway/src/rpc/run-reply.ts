import { rpcError } from '@signalbox/crds';
import type { Run } from '../runs/run.ts';
import type { Submitted } from '../runs/run-service.ts';
import type { RpcReply } from './connection.ts';

/** The answer of `agent.run` and `agent.attach`, once the run is over. A failure includes the usage up to then. */
export async function runReply(run: Run): Promise<RpcReply> {
  const outcome = await run.finished;
  if (outcome.ok) return outcome;
  const { trace: _, ...used } = outcome.partial;
  const error = rpcError(outcome.type, outcome.message, { run_id: run.id, ...used });
  return { ok: false, error: { ...error, data: { ...error.data, type: outcome.type, retryable: outcome.retryable } } };
}

/** Why a run was refused. */
export function failureReply({ type, message, retryAfterMs }: Extract<Submitted, { ok: false }>): RpcReply {
  return {
    ok: false,
    error: rpcError(type, message, retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  };
}
