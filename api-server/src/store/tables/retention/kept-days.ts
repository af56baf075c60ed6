import type { Kysely } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark, setMark } from '../marks.ts';

const DAY_MS = 86_400_000;
/** The name of the number that says before which moment runs that ended may be removed. */
const REMOVED = 'runs_removed';

/** To be called before runs are removed that ended before `before`. */
export const noteRemoval = (database: Pick<Database, 'write'>, before: number): Promise<void> =>
  database.write(async (tx) => setMark(tx, REMOVED, Math.max(before, (await lastMark(tx.db, REMOVED)) ?? 0)));

/** The beginning of the first day (UTC) from which on all runs, and what they executed, are still stored; clocks differ by less than a day. */
export async function keptFrom(db: Kysely<Tables>): Promise<number> {
  const before = await lastMark(db, REMOVED);
  return before === null ? 0 : before - (before % DAY_MS) + 2 * DAY_MS;
}
