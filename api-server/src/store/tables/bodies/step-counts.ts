import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/schema.ts';

/** Steps that one transaction changes or removes: a few milliseconds of it. */
export const MOST_STEPS = 500;

/** How many steps runs have, counted up to one more than `most`. */
export async function stepCounts(
  db: Kysely<Tables>,
  ids: readonly string[],
  most = MOST_STEPS,
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .select([
      'runs.id',
      sql<number | string>`(select count(*) from (select 1 from step_executions where step_executions.run_id = runs.id
        limit ${sql.lit(most + 1)}) as counted)`.as('steps'),
    ])
    .where('runs.id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, steps }) => [id, Number(steps)]));
}

/** The first of some runs that have together no more than `most` steps; one with more of them is alone. */
export function fitting<Run extends { id: string }>(
  runs: readonly Run[],
  counts: ReadonlyMap<string, number>,
  most = MOST_STEPS,
): Run[] {
  let sum = 0;
  const end = runs.findIndex(({ id }, at) => {
    const steps = counts.get(id) ?? 0;
    if (at > 0 && sum + steps > most) return true;
    sum += steps;
    return false;
  });
  return end === -1 ? [...runs] : runs.slice(0, end);
}

/** Some runs in portions that have together no more than `most` steps; one with more of them is alone. */
export async function portionsOf<Run extends { id: string }>(
  db: Kysely<Tables>,
  runs: readonly Run[],
  most: number,
): Promise<Run[][]> {
  const counts = await stepCounts(
    db,
    runs.map(({ id }) => id),
    most,
  );
  const portions: Run[][] = [];
  for (let at = 0; at < runs.length; at += portions.at(-1)?.length ?? 0)
    portions.push(fitting(runs.slice(at), counts, most));
  return portions;
}
