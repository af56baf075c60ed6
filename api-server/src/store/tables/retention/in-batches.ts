import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../../db/database.ts';

/** What one transaction may take: nobody waits longer for it. */
const TARGET_MS = 5;
const FIRST = 10;
const MOST = 500;

/** Of one transaction: rows that it removed and rows that it looked at, and whether there may be more. */
export interface Batch {
  removed: number;
  seen: number;
  more: boolean;
}

/**
 * Removes rows in transactions of about `TARGET_MS`, each with as many as the one before suggests, and rests between them for as long as
 * one took. `from` is how many were looked at before. Answers how many it removed.
 */
export async function inBatches(
  database: Pick<Database, 'write'>,
  remove: (tx: Tx, most: number, from: number) => Promise<Batch>,
): Promise<number> {
  for (let [removed, from, most] = [0, 0, FIRST]; ;) {
    const began = performance.now();
    const { took, ...batch } = await database.write(async (tx) => {
      const start = performance.now();
      const done = await remove(tx, most, from);
      return { ...done, took: performance.now() - start };
    });
    removed += batch.removed;
    from += batch.seen;
    if (!batch.more) return removed;
    const fitting = Math.floor((most * TARGET_MS) / Math.max(took, 0.1));
    most = Math.min(MOST, most * 2, Math.max(1, fitting));
    await sleep(performance.now() - began);
  }
}
