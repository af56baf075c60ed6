import { type Kysely, sql } from 'kysely';
import type { Marks } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { all, asksForExecutions, bucketOf, equals, hadOne, oneOf, type Scope, within } from './scope.ts';

/** The labels of the runs that were triggered in the window, by pipeline or by bucket of time. */
export async function runLabels(db: Kysely<Tables>, scope: Scope, by: 'pipeline' | 'bucket'): Promise<Marks[]> {
  const of = by === 'pipeline' ? sql`pipeline_name` : bucketOf('triggered_at', scope.bucketMs);
  const where = all([
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...equals('team', scope.team),
    ...(asksForExecutions(scope) ? [hadOne(scope, 'run_labels.run_id')] : []),
    ...within('triggered_at', scope.window),
  ]);
  const { rows } = await sql<Omit<Marks, 'of'> & { of_what: string | number }>`
    select ${of} as of_what, outcome, count(*) as n from run_labels where ${where} group by of_what, outcome`.execute(
    db,
  );
  return rows.map(({ of_what: what, ...marks }) => ({ of: String(what), ...marks }));
}
