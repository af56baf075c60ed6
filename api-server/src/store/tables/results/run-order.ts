import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { RunOrder } from '../../../runs/state/run-order.ts';
import type { Tables } from '../../db/schema.ts';

/** What is sorted by a figure, the newest of those that match. */
export const MAX_SORTED = 10_000;

const FIGURES: Record<string, RawBuilder<number | null>> = {
  duration: sql`runs.completed_at - runs.triggered_at`,
  cost: sql`runs.cost`,
  trust: sql`runs.trust`,
};

interface Window {
  limit: number;
  offset: number;
}

type Matching = SelectQueryBuilder<Tables, 'runs', object>;

/** The sequences of a page in this order; runs without the figure come last, and of equal ones the newest first. */
export async function sequencesIn(
  db: Kysely<Tables>,
  matching: Matching,
  order: Exclude<RunOrder, 'age'>,
  { limit, offset }: Window,
): Promise<number[]> {
  const figure = FIGURES[order.replace('-', '')];
  const page =
    figure === undefined
      ? matching.select('runs.seq').orderBy('runs.seq', 'asc')
      : sortedBy(db, matching, figure, order.startsWith('-') ? 'desc' : 'asc');
  const rows = await page.limit(limit).offset(offset).execute();
  return rows.map(({ seq }) => seq);
}

function sortedBy(db: Kysely<Tables>, matching: Matching, figure: RawBuilder<number | null>, way: 'asc' | 'desc') {
  const newest = matching.select('runs.seq').orderBy('runs.seq', 'desc').limit(MAX_SORTED).as('newest');
  return db
    .selectFrom('runs')
    .innerJoin(newest, 'newest.seq', 'runs.seq')
    .select('runs.seq')
    .orderBy(sql`${figure} is null`)
    .orderBy(figure, way)
    .orderBy('runs.seq', 'desc');
}
