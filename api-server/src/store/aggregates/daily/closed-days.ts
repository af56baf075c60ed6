import { type Kysely, sql } from 'kysely';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark } from '../../tables/marks.ts';
import type { Scope } from '../scope.ts';

/** The name of the number that says before which day all sums are there. */
export const CLOSED = 'daily_sums';

const beginOfDay = (at: number): number => at - (at % DAY_MS);

/** All days before this moment are summed; null before the first, and where buckets are narrower than a day. */
export async function closedUntil(db: Kysely<Tables>, { bucketMs = DAY_MS }: Scope): Promise<number | null> {
  return bucketMs % DAY_MS === 0 ? lastMark(db, CLOSED) : null;
}

/** The oldest closed day from the one that `mark` names on of which `table` has sums; null where there is none. */
export async function nextClosedDay(
  db: Kysely<Tables>,
  mark: string,
  table: 'hourly_runs' | 'hourly_steps',
): Promise<number | null> {
  const [closed, done] = [await lastMark(db, CLOSED), await lastMark(db, mark)];
  const { rows } = await sql<{ hour: number }>`
    select hour from ${sql.table(table)} where hour >= ${done ?? 0} and hour < ${closed ?? 0} order by hour limit 1`.execute(
    db,
  );
  return rows[0] === undefined ? null : beginOfDay(rows[0].hour);
}

export interface DaysIn {
  days: { from: number | null; to: number };
  /** What of the window is before and behind them. */
  rest: Window[];
}

/** The closed days that are wholly in a window; null where there is none. */
export function daysIn({ from, to }: Window, closed: number | null): DaysIn | null {
  if (closed === null) return null;
  const last = Math.min(to === null ? closed : beginOfDay(to), closed);
  const behind = last === to ? [] : [{ from: last, to }];
  if (from === null) return { days: { from, to: last }, rest: behind };
  const first = beginOfDay(from + DAY_MS - 1);
  if (first >= last) return null;
  return { days: { from: first, to: last }, rest: [...(from < first ? [{ from, to: first }] : []), ...behind] };
}

/** Windows with no more closed days than this have exact percentiles. */
export const EXACT_DAYS = 7;

/** The closed days of a long window, whose durations sketches say; null for a short one. */
export async function sketchedDays(db: Kysely<Tables>, scope: Scope): Promise<DaysIn | null> {
  const found = daysIn(scope.window, await closedUntil(db, scope));
  const isShort = found !== null && found.days.from !== null && found.days.to - found.days.from <= EXACT_DAYS * DAY_MS;
  return isShort ? null : found;
}
