import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import type { PackedEvents } from './events.ts';
import type { EndedStep, RawResponse, StepExecution, TerminalRunStatus } from './model.ts';

/** What a run stores, in the form of its row. Times are milliseconds, JSON columns are text. */

/** A write for a later transaction. The store makes it and only the store can perform it, more than once where it tries again. */
export interface Write {
  readonly madeBy: 'store';
}

/** A delivery as JSON; the same object for all runs that it starts. */
export interface RawDelivery {
  readonly json: string;
}

export interface NewRunRecord {
  id: string;
  pipeline_name: string;
  definition_hash: string;
  source: string;
  status: 'running' | 'queued';
  team: string | null;
  stage: string;
  severity: string | null;
  summary: string | null;
  triggered_at: number;
  fingerprint: string | null;
  dedup_key: string | null;
  parent_run_id: string | null;
  rerun_of: string | null;
  started_by: string | null;
  /** Of its pipeline, whose limits it counts towards; null where nothing is restricted. */
  namespace: string | null;
  /** The normalised context without `raw`, JSON. */
  context: string;
  /** The delivery as it came. */
  raw: RawDelivery | null;
}

export interface RunEndRecord {
  id: string;
  status: TerminalRunStatus;
  completed_at: number;
  error_step: string | null;
  error_message: string | null;
  trust: number | null;
  threshold: number | null;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  unpriced_steps: number;
  warning_count: number;
}

export type EndedRunRecord = RunEndRecord &
  Pick<NewRunRecord, 'pipeline_name' | 'stage' | 'team' | 'triggered_at' | 'parent_run_id' | 'rerun_of'>;

/** One labelled value of a roll-up; `labels` in the order of the metric table of Orchestration 6. */
export interface Counter {
  metric: string;
  labels: string[];
  value: number;
}

/** Which run suppresses a new one; runs triggered at or after `since` do, whatever became of them. */
export interface DuplicateKey extends DedupWindow {
  pipelineName: string;
  dedupKey: string;
}

/** In which a run that ended was triggered, if it suppresses; it ends after now, because clocks differ and are set back. */
export interface DedupWindow {
  since: number;
  until: number;
}

/** Which runs cover these alerts, by the same rule; the most severe alert first. */
export interface CoverageKey extends DedupWindow {
  pipelineName: string;
  keys: readonly string[];
}

export interface DuplicateRun {
  id: string;
  status: string;
  triggeredAt: number;
}

/** What a run stores, each for a transaction to come. */
export interface RunWrites {
  /** Of a run that a step of another run starts. */
  insertChild(row: NewRunRecord, pipeline: LoadedPipeline): Write;
  setLiveStatus(runId: string, status: 'running' | 'interrupted'): Write;
  /** With what it adds to the sums of its hour, and the attention that it needs. */
  endRun(run: EndedRunRecord): Write;
  insertStep(step: StepExecution): Write;
  /** With what it adds to the sums of its hour. */
  endStep(step: EndedStep): Write;
  /** With what the failed ones have cost. */
  countAttempt(stepId: string, attempts: number, raw: RawResponse): Write;
  addCounters(counters: Counter[]): Write;
  appendEvents(runId: string, events: PackedEvents): Write;
}
