import { sql } from 'kysely';
import type { Outcome, Run, RunStatus, Stage } from '../../runs/state/model.ts';
import type { NewRunRecord, RunEndRecord } from '../../runs/state/records.ts';
import type { RunRow } from '../db/schema.ts';

/** What the start of a run writes and lists show. */
const LISTED_AT_START = [
  'id',
  'pipeline_name',
  'definition_hash',
  'source',
  'status',
  'team',
  'stage',
  'severity',
  'summary',
  'triggered_at',
  'fingerprint',
  'parent_run_id',
  'rerun_of',
] as const satisfies readonly (keyof NewRunRecord)[];

/** Columns that the start of a run writes; its end writes `END_COLUMNS`. */
export const START_COLUMNS = [
  ...LISTED_AT_START,
  'dedup_key',
  'context',
  'raw',
] as const satisfies readonly (keyof NewRunRecord)[];

export const END_COLUMNS = [
  'status',
  'completed_at',
  'error_step',
  'error_message',
  'trust',
  'threshold',
  'input_tokens',
  'output_tokens',
  'cost',
  'unpriced_steps',
] as const satisfies readonly (keyof RunEndRecord)[];

/** The mark of a run, beside its own columns. */
const MARK = sql<string | null>`(select outcome from run_feedback where run_feedback.run_id = runs.id)`.as(
  'feedback_outcome',
);

const LISTED = new Set([...LISTED_AT_START, ...END_COLUMNS, 'seq' as const, 'waiting_on' as const]);

/** Everything but the two large columns, which no list shows. */
export const RUN_COLUMNS = [...[...LISTED].map((column) => `runs.${column}` as const), MARK] as const;

export type RunColumns = Omit<RunRow, 'seq' | 'context' | 'raw' | 'dedup_key' | 'owner'> & {
  seq: number;
  feedback_outcome: string | null;
};

export function toRun(row: RunColumns, currentStep: string | null): Run {
  return {
    seq: row.seq,
    id: row.id,
    pipelineName: row.pipeline_name,
    definitionHash: row.definition_hash,
    source: row.source,
    status: row.status as RunStatus,
    team: row.team,
    stage: row.stage as Stage,
    severity: row.severity,
    summary: row.summary,
    triggeredAt: row.triggered_at,
    completedAt: row.completed_at,
    fingerprint: row.fingerprint,
    parentRunId: row.parent_run_id,
    rerunOf: row.rerun_of,
    waitingOn: row.waiting_on,
    currentStep,
    error: row.error_message === null ? null : { step: row.error_step, message: row.error_message },
    trust: row.trust,
    threshold: row.threshold,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cost: row.cost,
    unpricedSteps: row.unpriced_steps,
    feedbackOutcome: row.feedback_outcome as Outcome | null,
  };
}
