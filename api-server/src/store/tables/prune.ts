import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import type { Database } from '../db/database.ts';

const BATCH = 500;
const DAY_MS = 86_400_000;

/** Removes runs that ended more than `days` ago with all that hangs on them, in small transactions; roll-ups stay as they are. */
export async function pruneRuns(database: Database, days: number, now: number): Promise<number> {
  const before = now - days * DAY_MS;
  let removed = 0;
  for (;;) {
    const old = await database.db
      .selectFrom('runs')
      .select('id')
      .where('completed_at', '<', before)
      .where('status', 'not in', ACTIVE_RUN_STATUSES)
      .limit(BATCH)
      .execute();
    if (old.length === 0) return removed;
    const ids = old.map(({ id }) => id);
    await database.write((tx) => tx.db.deleteFrom('runs').where('id', 'in', ids).execute());
    removed += ids.length;
  }
}

export async function pruneAudit(database: Database, days: number, now: number): Promise<number> {
  const before = now - days * DAY_MS;
  const { numDeletedRows } = await database.write((tx) =>
    tx.db.deleteFrom('audit').where('ts', '<', before).executeTakeFirst(),
  );
  return Number(numDeletedRows);
}
