import { type Kysely, sql } from 'kysely';
import type { By, Marks } from '../../analytics/sums.ts';
import { dialectOf } from '../db/dialect.ts';
import type { Tables } from '../db/schema.ts';
import { all, apart, asksForExecutions, bucketOf, equals, hadOne, NAMES, oneOf, type Scope, within } from './scope.ts';
import { inUses, NOT_NOTED } from './uses/label-uses.ts';

/** The labels of the runs that were triggered in the window, by pipeline, by bucket of time and of all of them. */
export async function runLabels<K extends By>(
  db: Kysely<Tables>,
  scope: Scope,
  by: readonly K[],
): Promise<Record<K, Marks[]>> {
  const where = all([
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...equals('team', scope.team),
    ...(asksForExecutions(scope) ? [hadUse(db, scope)] : []),
    ...within('triggered_at', scope.window),
  ]);
  const counted = by.map((one) => {
    const of = NAMES[one];
    return sql`select ${sql.lit(one)} as "by", ${of} as "of", outcome, sum(n) as n from labelled group by ${of}, outcome`;
  });
  const { rows } = await sql<Marks & { by: K }>`
    with labelled as materialized (
      select pipeline_name as pipeline, ${bucketOf('triggered_at', scope.bucketMs)} as bucket, outcome, count(*) as n
      from run_labels where ${where} group by pipeline, bucket, outcome)
    ${sql.join(counted, sql` union all `)}`.execute(db);
  return apart(by, (one): Marks[] => rows.filter((row) => row.by === one).map(({ by: _, ...marks }) => marks));
}

/** From what is noted with the label, where it is noted. */
const hadUse = (db: Kysely<Tables>, scope: Scope) =>
  sql<boolean>`case when nullif(uses, ${NOT_NOTED}) is null then ${hadOne(scope, 'run_labels.run_id')} else ${dialectOf(db).includes('uses', inUses(scope))} end`;
