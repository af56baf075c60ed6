import { type Kysely, sql } from 'kysely';
import type { StepExecution } from '../../../runs/state/model.ts';
import { type TextColumn, TEXTS } from '../../db/bodies/packed-body.ts';
import { END_COLUMNS, START_COLUMNS, toStep } from '../../db/rows/step-row.ts';
import type { Tables } from '../../db/schema.ts';
import { withTexts } from '../bodies/run-bodies.ts';

/** Executors of steps that ask people, or in which people may be asked. */
const ASKING = ['human', 'pipeline', 'parallel', 'fan_out'] as const;

type Column = (typeof START_COLUMNS)[number] | (typeof END_COLUMNS)[number];
const COLUMNS = [...new Set<Column>([...START_COLUMNS, ...END_COLUMNS])].filter(
  (column): column is Exclude<Column, TextColumn> => !TEXTS.some((text) => text === column),
);
const NOT_READ = { trust_report: null, checks: null, artifacts: null, next_step_context: null, output: null };

/**
 * By the ids of sub-runs that these steps started, and of theirs: their steps that may have asked people, or stopped the sub-run. What
 * they put out is not read.
 */
export async function askedBelow(
  db: Kysely<Tables>,
  steps: readonly Pick<StepExecution, 'rawResponse'>[],
): Promise<Map<string, StepExecution[]>> {
  const runs = steps.flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []);
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .select(COLUMNS)
    .select(({ eb }) =>
      sql<string | null>`case when ${eb('executor', 'in', ASKING)} then raw_response end`.as('raw_response'),
    )
    .where('run_id', 'in', runs)
    .where((is) => is.or([is('executor', 'in', ASKING), is('status', '=', 'stopped')]))
    .execute();
  const found = (await withTexts(db, rows)).map((row) => toStep({ ...row, ...NOT_READ }));
  const byRun = Map.groupBy(found, ({ runId }) => runId);
  return new Map([...byRun, ...(await askedBelow(db, found))]);
}
