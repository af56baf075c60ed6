import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { RunOrder } from '../../../runs/state/run-order.ts';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import { type Found, matching, rowsOf } from './find-runs.ts';
import type { RunFilter } from './run-filter.ts';

/** What is sorted by a figure, the newest of those that match. */
const MAX_SORTED = 10_000;

const FIGURES: Record<'duration' | 'cost' | 'trust', RawBuilder<number | null>> = {
  duration: sql`runs.completed_at - runs.triggered_at`,
  cost: sql`runs.cost`,
  trust: sql`runs.trust`,
};

interface Asked {
  order: Exclude<RunOrder, 'age' | '-age'>;
  limit: number;
  offset: number;
  /** Up to how many are counted. */
  most: number;
}

/** A page in the order of a figure; runs without it come last, and of equal ones the newest first. */
export async function findSorted(
  db: Kysely<Tables>,
  filter: RunFilter,
  { order, limit, offset, most }: Asked,
): Promise<Found> {
  const found = await matching(db, filter, { way: 'desc', most, enough: MAX_SORTED, skipped: 0, page: 1 });
  if (found === null || found.counted === 0) return { rows: [], counted: 0 };
  const figure = FIGURES[order.replace('-', '') as keyof typeof FIGURES];
  // Of each row by its key: joined, a planner may read the whole table.
  const looked = sql<number | null>`(select ${figure} from runs where runs.seq = run_search.rowid)`;
  const known = found.rows
    .select((found.seq === 'runs.seq' ? figure : looked).as('figure'))
    .orderBy(found.order, 'desc')
    .limit(MAX_SORTED);
  const listed = dialectOf(db).listed(JSON.stringify(found.fresh));
  const fresh = sql`select runs.seq, ${figure} as figure from runs where runs.seq in (select cast(value as bigint) from ${listed} as given)`;
  const newest =
    found.fresh.length === 0
      ? sql`${known}`
      : sql`(select * from ${known} as known union ${fresh} order by seq desc limit ${sql.lit(MAX_SORTED)})`;
  const { rows } = await sql<{ seq: number }>`select seq from ${newest} as newest
    order by figure is null, figure ${sql.raw(order.startsWith('-') ? 'desc' : 'asc')}, seq desc
    limit ${limit} offset ${offset}`.execute(db);
  const seqs = rows.map(({ seq }) => seq);
  return { rows: await rowsOf(db, seqs), counted: found.counted };
}
