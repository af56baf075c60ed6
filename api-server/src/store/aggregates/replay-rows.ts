import { type Kysely, sql } from 'kysely';
import type { Execution } from '../../analytics/replay/graded.ts';
import type { Outcome, StepStatus } from '../../runs/state/model.ts';
import { CUT } from '../db/bodies/packed-body.ts';
import type { Tables } from '../db/schema.ts';
import { withTexts } from '../tables/bodies/run-bodies.ts';
import { LABEL_SOURCE, type LabelSource, OUTCOME } from '../tables/labels/outcome.ts';
import { RUN_SUMMARY } from '../tables/replay/run-summary.ts';
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

/** Longer answers are cut where they are read, so that no report grows with what agents said. */
export const MOST_OUTPUT_BYTES = 16 * 1024;
export const cutColumn = (column: 'step_executions.output' | 'step_executions.summary') =>
  sql<string | null>`case when octet_length(${sql.ref(column)}) > ${sql.lit(MOST_OUTPUT_BYTES)}
    then substr(${sql.ref(column)}, 1, ${sql.lit(MOST_OUTPUT_BYTES)}) || ${sql.lit(CUT)} else ${sql.ref(column)} end`;

/** What these rows hold in the report, in bytes; a packed answer counts as one that is cut. */
const HELD = sql<
  number | string | null
>`sum(1024 + coalesce(octet_length(summary), 0) + coalesce(octet_length(error_message), 0)
  + case when output is null then 0 when octet_length(output) between 1 and ${sql.lit(MOST_OUTPUT_BYTES)} then octet_length(output)
  else ${sql.lit(MOST_OUTPUT_BYTES)} end)`;

/** Which recorded executions a report compares with: by their ids, or the steps of runs. */
export interface Compared {
  stepIds?: readonly string[];
  runIds?: readonly string[];
  stepNames?: readonly string[];
}

/** Bytes of the rows of a report, which none of them is read for. */
export async function bytesOfReport(
  db: Kysely<Tables>,
  runId: string,
  { stepIds = [], runIds = [], stepNames = [] }: Compared,
): Promise<number> {
  const { held } = await db
    .selectFrom('step_executions')
    .select(HELD.as('held'))
    .where(({ eb, or, and }) =>
      or([
        eb('run_id', '=', runId),
        ...(stepIds.length > 0 ? [eb('id', 'in', stepIds)] : []),
        ...(runIds.length > 0 ? [and([eb('run_id', 'in', runIds), eb('step_name', 'in', stepNames)])] : []),
      ]),
    )
    .executeTakeFirstOrThrow();
  return Number(held ?? 0);
}

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
      ...OWN_USE,
      'step_executions.started_at',
      'step_executions.completed_at',
      'step_executions.error_message',
      'step_feedback.outcome as mark',
    ])
    .select([OUTCOME.as('outcome'), LABEL_SOURCE.as('label_source')])
    .select([PARTS.as('parts'), RUN_SUMMARY.as('run_summary'), cutColumn('step_executions.output').as('output')]);

async function executionsOf(db: Kysely<Tables>, query: ReturnType<typeof rows>): Promise<Execution[]> {
  return (await withTexts(db, await query.execute(), MOST_OUTPUT_BYTES)).map(toExecution);
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

export function outputOf(text: string | null): Record<string, unknown> | null {
  if (text === null) return null;
  return text.endsWith(CUT) ? { cut: text } : (JSON.parse(text) as Record<string, unknown>);
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
  output: outputOf(row.output),
  ...ownUse(row),
  durationSeconds: row.completed_at === null ? null : Math.max(0, row.completed_at - row.started_at) / 1000,
  error: row.error_message,
  mark: row.mark as Outcome | null,
  outcome: row.outcome,
  labelSource: row.label_source,
});
