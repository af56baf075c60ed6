import type { Outcome } from '../runs/state/model.ts';

/** Runs of one pipeline, team and status in one bucket of time; `bucket` is its beginning in milliseconds. */
export interface RunSum {
  bucket: number;
  pipeline: string;
  team: string | null;
  status: string;
  runs: number;
  durationMs: number;
}

/** Step executions that share all their names, in one bucket of time. */
export interface StepSum {
  bucket: number;
  pipeline: string;
  step: string;
  team: string | null;
  agent: string | null;
  provider: string | null;
  model: string | null;
  /** Null for what is not priced. */
  costSource: string | null;
  status: string;
  executions: number;
  /** Executions that reported tokens. */
  reporting: number;
  inputTokens: number;
  outputTokens: number;
  cost: number;
  unpriced: number;
  durationMs: number;
}

/** What figures of runs are told apart by: the pipeline, the bucket of time, or nothing. */
export type By = 'pipeline' | 'bucket' | 'all';

/** The time that 95 of 100 did not exceed, of one pipeline or bucket. */
export interface Percentile {
  of: string;
  seconds: number;
  /** Without the time in which the run waited for people. */
  machineSeconds: number;
  /** Of the runs that waited for people; null where none did. */
  waitingSeconds: number | null;
}

/** How many were marked so; `of` is the pipeline or whatever the marks are counted by. */
export interface Marks {
  of: string;
  outcome: Outcome;
  n: number;
}
