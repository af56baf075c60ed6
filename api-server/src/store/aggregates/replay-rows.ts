import { type Kysely, sql } from 'kysely';
import type { Execution } from '../../analytics/replay/graded.ts';
import type { Outcome, StepStatus } from '../../runs/state/model.ts';
import type { Tables } from '../db/schema.ts';
import { withTexts } from '../tables/bodies/run-bodies.ts';
import { LABEL_SOURCE, type LabelSource, OUTCOME } from '../tables/labels/outcome.ts';
import { OWN_USE, type OwnUseRow, ownUse, PARTS } from './own-use.ts';

/** The candidates of a batch, with the marks of people. */
export async function candidateRows(db: Kysely<Tables>, runId: string): Promise<Execution[]> {
  return executionsOf(db, rows(db).where('step_executions.run_id', '=', runId));
}

/** Recorded executions, with their labels of now; those that are gone are left out. */
export async function recordedRows(db: Kysely<Tables>, stepIds: readonly string[]): Promise<Execution[]> {
  if (stepIds.length === 0) return [];
  return executionsOf(db, rows(db).where('step_executions.id', 'in', stepIds));
}

/** Executions of some steps of recorded runs, with their labels of now. */
export async function recordedChainRows(
  db: Kysely<Tables>,
  { runIds, stepNames }: { runIds: readonly string[]; stepNames: readonly string[] },
): Promise<Execution[]> {
  if (runIds.length === 0) return [];
  const found = rows(db)
    .where('step_executions.run_id', 'in', runIds)
    .where('step_executions.step_name', 'in', stepNames);
  return executionsOf(db, found);
}

/** A long summary is cut where it is read, so that no report grows with what senders wrote. */
const RUN_SUMMARY = sql<string | null>`substr(runs.summary, 1, 300)`;

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .leftJoin('runs', 'runs.id', 'step_executions.run_id')
    .select([
      'step_executions.id',
      'step_executions.run_id',
      'step_executions.step_name',
      'step_executions.executor',
      'step_executions.status',
      'step_executions.primary_confidence',
      'step_executions.deterministic_passed',
      'step_executions.summary',
      'step_executions.output',
      ...OWN_USE,
      'step_executions.started_at',
      'step_executions.completed_at',
      'step_executions.error_message',
      'step_feedback.outcome as mark',
    ])
    .select([OUTCOME.as('outcome'), LABEL_SOURCE.as('label_source')])
    .select([PARTS.as('parts'), RUN_SUMMARY.as('run_summary')]);

async function executionsOf(db: Kysely<Tables>, query: ReturnType<typeof rows>): Promise<Execution[]> {
  return (await withTexts(db, await query.execute())).map(toExecution);
}

interface Row extends OwnUseRow {
  id: string;
  run_id: string;
  step_name: string;
  executor: string;
  status: string;
  primary_confidence: number | null;
  deterministic_passed: number | null;
  summary: string | null;
  output: string | null;
  started_at: number;
  completed_at: number | null;
  error_message: string | null;
  mark: string | null;
  outcome: Outcome | null;
  label_source: LabelSource | null;
  run_summary: string | null;
}

const toExecution = (row: Row): Execution => ({
  stepId: row.id,
  runId: row.run_id,
  runSummary: row.run_summary,
  stepName: row.step_name,
  executor: row.executor,
  status: row.status as StepStatus,
  confidence: row.primary_confidence,
  deterministicPassed: row.deterministic_passed === null ? null : row.deterministic_passed === 1,
  summary: row.summary,
  output: row.output === null ? null : (JSON.parse(row.output) as Record<string, unknown>),
  ...ownUse(row),
  durationSeconds: row.completed_at === null ? null : Math.max(0, row.completed_at - row.started_at) / 1000,
  error: row.error_message,
  mark: row.mark as Outcome | null,
  outcome: row.outcome,
  labelSource: row.label_source,
});
