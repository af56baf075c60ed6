import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { RunOrder } from '../../../runs/state/run-order.ts';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';

/** What is sorted by a figure, the newest of those that match. */
export const MAX_SORTED = 10_000;

const FIGURES: Record<'duration' | 'cost' | 'trust', RawBuilder<number | null>> = {
  duration: sql`runs.completed_at - runs.triggered_at`,
  cost: sql`runs.cost`,
  trust: sql`runs.trust`,
};

interface Window {
  limit: number;
  offset: number;
}

type Figured = Exclude<RunOrder, 'age' | '-age'>;

/** A page of these runs in this order; runs without the figure come last, and of equal ones the newest first. */
export async function sortedBy(
  db: Kysely<Tables>,
  seqs: readonly number[],
  order: Figured,
  { limit, offset }: Window,
): Promise<number[]> {
  const figure = FIGURES[order.replace('-', '') as keyof typeof FIGURES];
  const among = sql`select cast(value as bigint) from ${dialectOf(db).listed(JSON.stringify(seqs))} as newest`;
  const rows = await db
    .selectFrom('runs')
    .select('runs.seq')
    .where(sql<boolean>`runs.seq in (${among})`)
    .orderBy(sql`${figure} is null`)
    .orderBy(figure, order.startsWith('-') ? 'desc' : 'asc')
    .orderBy('runs.seq', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(({ seq }) => seq);
}
