import type { ExecutorStep } from '@signalbox/crds';
import type { Failure } from './executor.ts';
import type { ActiveRun } from './active-run.ts';
import type { RawResponse } from './model.ts';

/** What a step answered, whoever was asked; a null confidence passes no gate and fails none. */
export interface Answer {
  confidence: number | null;
  summary: string | null;
  output: Record<string, unknown>;
  nextStepContext: unknown;
  proceed: boolean;
  proceedReason: string | null;
  artifacts: string[];
}

/** What is known of a call beside its answer. */
export interface CallFacts {
  model: string | null;
  provider: string | null;
  agentVersion: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  raw: RawResponse;
}

export type Performed = { ok: true; answer: Answer; facts: CallFacts } | (Failure & { facts?: CallFacts });

export interface Attempt {
  idempotencyKey: string;
  timeoutMs: number;
  signal: AbortSignal;
}

/** A step ready to be asked: rendered, hashed, not sent. */
export interface Prepared {
  ok: true;
  agent: string | null;
  model: string | null;
  promptHash: string | null;
  raw: RawResponse | null;
  perform(attempt: Attempt): Promise<Performed>;
}

/**
 * One executor's way to be a step (a file each). `earlier` is what the step was asked before a restart: a resumed call
 * repeats it to the letter, or its idempotency key would not fit.
 */
export interface StepKind<S extends ExecutorStep = ExecutorStep> {
  prepare(run: ActiveRun, step: S, earlier: RawResponse | null): Prepared | Failure;
}
