import { type Kysely, sql } from 'kysely';
import { DAY_MS, WEEK_MS, type Window } from '../../../analytics/window.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark } from '../../tables/marks.ts';
import type { Scope } from '../scope.ts';

/** The name of the number that says before which day all sums are there. */
export const CLOSED = 'daily_sums';

/** The name of the number that says before which week all sums are there. */
export const WEEKS_CLOSED = 'weekly_sums';

/** All days and all weeks before these moments are summed; null before the first, and where buckets are narrower. */
export interface Closed {
  days: number | null;
  weeks: number | null;
}

export async function closedUntil(db: Kysely<Tables>, { bucketMs = WEEK_MS }: Scope): Promise<Closed> {
  const marks = await db.selectFrom('marks').selectAll().where('name', 'in', [CLOSED, WEEKS_CLOSED]).execute();
  const until = (mark: string, width: number): number | null =>
    bucketMs % width === 0 ? (marks.find(({ name }) => name === mark)?.value ?? null) : null;
  return { days: until(CLOSED, DAY_MS), weeks: until(WEEKS_CLOSED, WEEK_MS) };
}

/** The oldest day with sums that is not closed; null where there is none. */
export async function firstOpenDay(db: Kysely<Tables>): Promise<number | null> {
  const closed = (await lastMark(db, CLOSED)) ?? 0;
  const { rows } = await sql<{ hour: number }>`
    select hour from (select hour from hourly_runs where hour >= ${closed} order by hour limit 1) as runs
    union all select hour from (select hour from hourly_steps where hour >= ${closed} order by hour limit 1) as steps`.execute(
    db,
  );
  if (rows.length === 0) return null;
  const first = Math.min(...rows.map(({ hour }) => hour));
  return first - (first % DAY_MS);
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
  return rows[0] === undefined ? null : rows[0].hour - (rows[0].hour % DAY_MS);
}

export interface WholeIn {
  whole: { from: number | null; to: number };
  /** What of the window is before and behind it. */
  rest: Window[];
}

/** The closed days, or weeks, that are wholly in a window; null where there is none. */
export function wholeIn({ from, to }: Window, width: number, closed: number | null): WholeIn | null {
  if (closed === null) return null;
  const beginOf = (at: number): number => at - (at % width);
  const last = Math.min(to === null ? closed : beginOf(to), closed);
  const behind = last === to ? [] : [{ from: last, to }];
  if (from === null) return { whole: { from, to: last }, rest: behind };
  const first = beginOf(from + width - 1);
  if (first >= last) return null;
  return { whole: { from: first, to: last }, rest: [...(from < first ? [{ from, to: first }] : []), ...behind] };
}

/** Windows with no more closed days than this have exact percentiles. */
export const EXACT_DAYS = 7;

/** The closed days of a long window, whose durations sketches say; null for a short one. */
export function sketchedDays(window: Window, { days }: Closed): WholeIn | null {
  const found = wholeIn(window, DAY_MS, days);
  const isShort =
    found !== null && found.whole.from !== null && found.whole.to - found.whole.from <= EXACT_DAYS * DAY_MS;
  return isShort ? null : found;
}
