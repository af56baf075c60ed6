import type { Failure, ModelUse } from './executor.ts';
import type { RawResponse, StepExecution, StepStatus } from './model.ts';
import type { Write } from './records.ts';
import type { Span } from './span.ts';
import type { StepPart, TriedRequest } from './step-parts.ts';
import type { StepContext } from './step-context.ts';

/** The answer of a step of any executor; a null confidence passes no gate and fails none. */
export interface Answer {
  confidence: number | null;
  summary: string | null;
  output: Record<string, unknown>;
  nextStepContext: unknown;
  proceed: boolean;
  proceedReason: string | null;
  /** Names of the artifacts, and their texts until they are stored. */
  artifacts: string[];
  artifactTexts?: Record<string, string>;
}

/** An answer of something that is no agent: it leaves no artifacts and does not stop the run. */
export const plainAnswer = (
  said: Pick<Answer, 'confidence' | 'summary' | 'output'>,
  nextStepContext: unknown = null,
): Answer => ({ ...said, nextStepContext, proceed: true, proceedReason: null, artifacts: [] });

/** What is known of a call beside its answer. */
export interface CallFacts {
  model: string | null;
  provider: string | null;
  agentVersion: string | null;
  /** Of every model that used tokens. */
  uses: readonly ModelUse[];
  raw: RawResponse;
}

/** The facts of an executor that uses no model. */
export const noFacts = (raw: RawResponse): CallFacts => ({
  model: null,
  provider: null,
  agentVersion: null,
  uses: [],
  raw,
});

/**
 * `ends` gives the step a status of its own where `failed` would be wrong: a rejected approval, an escalated sub-run.
 * `answer` is what was said all the same.
 */
export type Refusal = Failure & {
  facts?: CallFacts;
  request?: TriedRequest;
  ends?: Extract<StepStatus, 'escalated' | 'aborted' | 'stopped'>;
  answer?: Answer;
};
export type Performed = { ok: true; answer: Answer; facts: CallFacts; request?: TriedRequest } | Refusal;

/** The text of an answer, which takes far more once it is read: in one turn of the event loop with what counts it. */
export interface Unread {
  chars: number;
  request: TriedRequest;
  read(): Performed;
}

export interface Attempt {
  idempotencyKey: string;
  /** Number of the iteration of `loop_until`, from 1. */
  iteration: number;
  /** The answer of the iteration before. */
  previous: Answer | null;
  timeoutMs: number;
  signal: AbortSignal;
  /** Notes a wait inside of the attempt, in milliseconds since the epoch. */
  waited(part: Extract<StepPart['part'], 'queue' | 'slot'>, startedAt: number, endedAt: number): void;
  /** Of the step. */
  span: Span;
  /** The stored step; `startedAt` is milliseconds, and of the first start where the step goes on after a restart. */
  step: { id: string; startedAt: number };
  /** Counts a question that waits for people towards what the run and its namespace may hold, and `stores` of it with their day; one that `goesOn` was asked before. */
  hold(question: { sends: number; stores: number; goesOn: boolean }): Disposable & { refused: Failure | null };
  /** Stores what the run has pending and these, durably. */
  store(writes: Write[]): Promise<void>;
}

/** A step ready to be asked: rendered, hashed, not sent. */
export interface Prepared {
  ok: true;
  agent: string | null;
  model: string | null;
  promptHash: string | null;
  raw: RawResponse | null;
  /** Characters that it sends beside `raw`, in memory while the step goes on and not stored. */
  sends?: number;
  /** Characters that are stored beside `raw`, of its question or its sub-run. */
  stores?: number;
  /** Stored in the transaction of the step's start. */
  withStart?(step: StepExecution): Write[];
  /** True where people may have been asked: what they said is read also once the time is over. */
  asks?: boolean;
  /** True where the step handles its `timeout_seconds` itself. */
  keepsTime?: true;
  perform(attempt: Attempt): Promise<Performed | Unread>;
}

/**
 * One executor's way to be a step (a file each). `earlier` is what the step was asked before a restart: a resumed call
 * repeats it to the letter, or its idempotency key would not fit.
 */
export interface StepKind {
  prepare(ctx: StepContext, earlier: RawResponse | null): Promise<Prepared | Failure>;
}
