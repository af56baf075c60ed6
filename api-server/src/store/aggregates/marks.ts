import { type Kysely, sql } from 'kysely';
import type { Marks } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { all, bucketOf, equals, oneOf, type Scope, within } from './scope.ts';

/** How people marked the runs that were triggered in the window, by pipeline or by bucket of time. */
export async function runMarks(db: Kysely<Tables>, scope: Scope, by: 'pipeline' | 'bucket'): Promise<Marks[]> {
  const of = by === 'pipeline' ? sql`pipeline_name` : bucketOf('triggered_at', scope.bucketMs);
  const where = all([
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...within('triggered_at', scope.window),
  ]);
  const { rows } = await sql<Omit<Marks, 'of'> & { of_what: string | number }>`
    select ${of} as of_what, outcome, count(*) as n from run_feedback join runs on runs.id = run_feedback.run_id
    where ${where} group by of_what, outcome`.execute(db);
  return rows.map(({ of_what: what, ...marks }) => ({ of: String(what), ...marks }));
}
