import { sql } from 'kysely';
import type { AttentionState } from '../../runs/state/attention.ts';
import type { Outcome, Run, RunStatus, Stage } from '../../runs/state/model.ts';
import type { RunResult } from '../../runs/state/result.ts';
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
  'started_by',
  'namespace',
  'context',
  'raw',
  'raw_hash',
] as const satisfies readonly (keyof StoredRun)[];

/** What the start of a run writes. */
export type StoredRun = Omit<NewRunRecord, 'raw'> & Pick<RunRow, 'raw' | 'raw_hash'>;

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
  'warning_count',
] as const satisfies readonly (keyof RunEndRecord)[];

/** The mark of a run, beside its own columns. */
const MARK = sql<string | null>`(select outcome from run_feedback where run_feedback.run_id = runs.id)`.as(
  'feedback_outcome',
);

/** Who looks at it, beside its own columns. */
const ATTENTION = [
  sql<string | null>`(select state from attention where attention.run_id = runs.id)`.as('attention'),
  sql<string | null>`(select assignee from attention where attention.run_id = runs.id)`.as('assignee'),
] as const;

const LISTED = new Set([...LISTED_AT_START, ...END_COLUMNS, 'seq' as const, 'waiting_on' as const, 'result' as const]);

/** Everything but the two large columns, which no list shows. */
export const RUN_COLUMNS = [...[...LISTED].map((column) => `runs.${column}` as const), MARK, ...ATTENTION] as const;

/** Characters of each of these that lists show. */
const LISTED_TEXT = 300;
const SHORTENED = ['team', 'severity', 'summary', 'error_message'] as const;
const IN_LISTS = new Set<string>(SHORTENED.map((column) => `runs.${column}`));

const shortened = (column: (typeof SHORTENED)[number]) => {
  const text = sql.ref(`runs.${column}`);
  return sql<string | null>`case when length(${text}) > ${sql.lit(LISTED_TEXT)}
    then substr(${text}, 1, ${sql.lit(LISTED_TEXT - 1)}) || '…' else ${text} end`.as(column);
};

/** The same for lists: a long text is cut where it is read, so that no list grows with what senders and agents wrote. */
export const LIST_COLUMNS = [
  ...RUN_COLUMNS.filter((column) => typeof column !== 'string' || !IN_LISTS.has(column)),
  ...SHORTENED.map(shortened),
] as const;

export type RunColumns = Omit<
  RunRow,
  'seq' | 'context' | 'raw' | 'raw_hash' | 'dedup_key' | 'owner' | 'started_by' | 'namespace'
> & {
  seq: number;
  feedback_outcome: string | null;
  attention: string | null;
  assignee: string | null;
};

/** Column by column: lists make many of these, and an object whose keys are computed costs several times as much. */
export const toRun = (row: RunColumns, currentStep: string | null): Run => ({
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
  attention: row.attention as AttentionState | null,
  assignee: row.assignee,
  waitingOn: row.waiting_on,
  currentStep,
  error: row.error_message === null ? null : { step: row.error_step, message: row.error_message },
  trust: row.trust,
  threshold: row.threshold,
  result: row.result === null ? undefined : (JSON.parse(row.result) as RunResult | null),
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  cost: row.cost,
  unpricedSteps: row.unpriced_steps,
  warningCount: row.warning_count,
  feedbackOutcome: row.feedback_outcome as Outcome | null,
});
