import type { Kysely } from 'kysely';
import type { PruneBefore, Pruned } from '../../../notify/pruning.ts';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import type { NotificationStatus } from '../notification-list.ts';
import { inBatches } from './in-batches.ts';

/** Rows that one look goes through. */
const LOOK = 500;

const STATUSES: Record<keyof PruneBefore, readonly NotificationStatus[]> = {
  done: ['sent', 'forwarded', 'dismissed'],
  undelivered: ['pending', 'failed'],
};

/** The next ones created before then, the oldest first. */
export const oldRows = (db: Kysely<Tables>, after: { created_at: number; id: string }, before: number) =>
  db
    .selectFrom('notifications')
    .select(['id', 'created_at', 'status', 'event'])
    .where('created_at', '<', before)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('created_at', 'id'), '>', tuple(after.created_at, after.id)))
    .orderBy('created_at')
    .orderBy('id')
    .limit(LOOK)
    .execute();

/**
 * Deletes messages created before these times, in small transactions; answers how many. Looks for them beside the writes: most of the old
 * ones may be those that are kept longer.
 */
export async function pruneNotifications(
  database: Pick<Database, 'reader' | 'write'>,
  before: PruneBefore,
  signal: AbortSignal,
): Promise<Pruned> {
  const removed: Pruned = { done: 0, undelivered: 0 };
  for (let after = { created_at: -1, id: '' }; ;) {
    const rows = await oldRows(database.reader(signal), after, Math.max(before.done, before.undelivered));
    for (const kind of ['done', 'undelivered'] as const) {
      const old = rows.filter((row) => row.created_at < before[kind] && mayGo(row, kind));
      removed[kind] += await remove(
        database,
        old.map(({ id }) => id),
        kind,
      );
    }
    const last = rows.at(-1);
    if (!last || rows.length < LOOK) return removed;
    after = last;
  }
}

/** A reminder that was stopped goes on where somebody opens its run again. */
const mayGo = ({ status, event }: { status: string; event: string }, kind: keyof PruneBefore) =>
  STATUSES[kind].some((one) => one === status) && !(event === 'remind' && status === 'dismissed');

const remove = async (
  database: Pick<Database, 'write'>,
  ids: readonly string[],
  kind: keyof PruneBefore,
): Promise<number> =>
  ids.length === 0
    ? 0
    : inBatches(database, async ({ db }, most, from) => {
        const some = ids.slice(from, from + most);
        const { numDeletedRows } = await db
          .deleteFrom('notifications')
          .where('id', 'in', some)
          .where('status', 'in', STATUSES[kind])
          .where((row) => row.or([row('event', '<>', 'remind'), row('status', '<>', 'dismissed')]))
          .executeTakeFirst();
        return { removed: Number(numDeletedRows), seen: some.length, more: from + some.length < ids.length };
      });
