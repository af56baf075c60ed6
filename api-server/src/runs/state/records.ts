import type { HourlyStep } from './hourly.ts';

/** What a run writes down, in the form of its rows: the store's tables are made of these. Times are milliseconds, JSON columns are text. */

/** A write for a later transaction; the store made it and only the store can run it. It may run twice. */
export type Write = (tx: never) => Promise<void>;

export interface NewRunRecord {
  id: string;
  pipeline_name: string;
  definition_hash: string;
  source: string;
  status: string;
  team: string | null;
  stage: string;
  severity: string | null;
  summary: string | null;
  triggered_at: number;
  fingerprint: string | null;
  dedup_key: string | null;
  parent_run_id: string | null;
  rerun_of: string | null;
  /** The normalised context without `raw`, JSON. */
  context: string;
  /** The delivery as it came, JSON. */
  raw: string | null;
}

export interface RunEndRecord {
  id: string;
  status: string;
  completed_at: number;
  error_step: string | null;
  error_message: string | null;
  trust: number | null;
  threshold: number | null;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  unpriced_steps: number;
}

export interface StepStartRecord {
  id: string;
  run_id: string;
  step_name: string;
  step_index: number;
  kind: string;
  executor: string;
  agent: string | null;
  model: string | null;
  provider: string | null;
  status: string;
  pipeline_name: string;
  team: string | null;
  stage: string;
  prompt_hash: string | null;
  started_at: number;
  completed_at: number | null;
  attempts: number;
  raw_response: string | null;
}

export interface StepEndRecord {
  id: string;
  model: string | null;
  provider: string | null;
  status: string;
  primary_confidence: number | null;
  verifier_confidence: number | null;
  effective_confidence: number | null;
  grounding_score: number | null;
  deterministic_passed: number | null;
  agent_version: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  cost_source: string | null;
  completed_at: number;
  attempts: number;
  summary: string | null;
  error_type: string | null;
  error_message: string | null;
  trust_report: string | null;
  checks: string | null;
  artifacts: string | null;
  next_step_context: string | null;
  output: string | null;
  raw_response: string | null;
}

/** One labelled value of a roll-up; `labels` in the order of the metric table of Orchestration 6. */
export interface Counter {
  metric: string;
  labels: string[];
  value: number;
}

/** Which run suppresses a new one; runs triggered at or after `since` do, whatever became of them. */
export interface DuplicateKey {
  pipelineName: string;
  dedupKey: string;
  since: number;
}

export interface DuplicateRun {
  id: string;
  status: string;
  triggeredAt: number;
}

/** The writes of a step. */
export interface StepStore {
  insertStep(row: StepStartRecord): Write;
  endStep(row: StepEndRecord): Write;
  countAttempt(stepId: string, attempts: number): Write;
  addCounters(counters: Counter[]): Write;
  addHourly(sum: HourlyStep): Write;
}
