import { type AgentRunResult, AgentRunSpent, type RpcErrorType } from '@signalbox/crds';
import type { ModelRoute } from '../models/route.ts';

/** Why a run ended without an answer, as error types of `/rpc`. */
export type RunFailureType = Extract<
  RpcErrorType,
  | 'timeout'
  | 'cancelled'
  | 'provider_error'
  | 'max_iterations'
  | 'output_invalid'
  | 'tool_unavailable'
  | 'invalid_params'
  | 'internal'
>;

export interface RunFailure {
  ok: false;
  type: RunFailureType;
  message: string;
  retryable: boolean;
  /** The usage up to the failure. */
  partial: AgentRunSpent;
}

export type RunOutcome = { ok: true; result: AgentRunResult } | RunFailure;

/** The reason with which a run's signal aborts. */
export class RunAborted extends Error {
  readonly type: 'timeout' | 'cancelled' | 'max_iterations';
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;

  constructor(type: RunAborted['type'], message: string, retryable = type === 'timeout') {
    super(message);
    this.name = 'RunAborted';
    this.type = type;
    this.retryable = retryable;
  }
}

/** Whether the run was cancelled, as opposed to timed out. */
export function wasCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof RunAborted && reason.type === 'cancelled';
}

/** A failed run with its agent and time; one that no model answered names the model that it asked first. */
export function attributed(
  outcome: RunOutcome,
  { agent, route, seconds }: { agent: { version: string }; route: ModelRoute | null; seconds: number },
): RunOutcome {
  if (outcome.ok) return outcome;
  const { partial } = outcome;
  const asked = partial.model === null && partial.iterations > 0 ? route : null;
  const agent_version = partial.agent_version ?? agent.version;
  return { ...outcome, partial: { ...partial, ...asked, agent_version, duration_ms: Math.round(seconds * 1000) } };
}

/** What a run's span says about its end. */
export function spanAttributes(outcome: RunOutcome) {
  const used = outcome.ok ? outcome.result : outcome.partial;
  return {
    'gen_ai.provider.name': used.provider ?? undefined,
    'gen_ai.response.model': used.model ?? undefined,
    'gen_ai.usage.input_tokens': used.usage?.input_tokens,
    'gen_ai.usage.output_tokens': used.usage?.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': used.usage?.cached_input_tokens,
  };
}

/** A run that ended before anything was asked. */
export function failure(type: RunFailure['type'], message: string, retryable: boolean): RunFailure {
  return { ok: false, type, message, retryable, partial: AgentRunSpent.parse({}) };
}
