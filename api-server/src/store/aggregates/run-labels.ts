import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Marks } from '../../analytics/sums.ts';
import type { Outcome } from '../../runs/state/model.ts';
import type { Tables } from '../db/schema.ts';
import { all, bucketOf, runFilter, type Scope, within } from './scope.ts';
import { isExecution } from './step-rows.ts';

/** Runs with a mark, with a marked step, or with a failed check; read from indexes only. */
const JUDGED = sql`(select run_id from run_feedback union select run_id from step_feedback
  union select run_id from step_executions where deterministic_passed = 0)`;

/** The label of the run's last execution that has one of its own: a mark, else a failed check. */
const OF_LAST_EXECUTION = (): RawBuilder<Outcome | null> => sql`(
  select coalesce(step_feedback.outcome, 'incorrect') from step_executions
  left join step_feedback on step_feedback.run_id = step_executions.run_id and step_feedback.step_name = step_executions.step_name
  where step_executions.run_id = runs.id and ${isExecution()} and (step_feedback.outcome is not null or deterministic_passed = 0)
  order by started_at desc, step_index desc, step_executions.step_name desc limit 1)`;

/**
 * The labels of the runs that were triggered in the window, by pipeline or by bucket of time: a run's own mark, else the label
 * of its last labelled execution. They are looked up from marks and failed checks, of which there are few (SQLite walks the
 * tables of a cross join in their order).
 */
export async function runLabels(db: Kysely<Tables>, scope: Scope, by: 'pipeline' | 'bucket'): Promise<Marks[]> {
  const of = by === 'pipeline' ? sql`pipeline_name` : bucketOf('triggered_at', scope.bucketMs);
  const where = all([...runFilter(scope), ...within('triggered_at', scope.window)]);
  const { rows } = await sql<Omit<Marks, 'of'> & { of_what: string | number }>`
    select of_what, outcome, count(*) as n from (
      select ${of} as of_what, coalesce(run_feedback.outcome, ${OF_LAST_EXECUTION()}) as outcome
      from ${JUDGED} as judged cross join runs left join run_feedback on run_feedback.run_id = runs.id
      where runs.id = judged.run_id and ${where}) as labelled
    where outcome is not null group by of_what, outcome`.execute(db);
  return rows.map(({ of_what: what, ...marks }) => ({ of: String(what), ...marks }));
}
