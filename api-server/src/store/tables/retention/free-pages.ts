import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';

/** Gives the space of removed rows back to the disk, a little at a time; answers how many pages. */
export async function giveBackPages(giveBack: NonNullable<Database['giveBack']>): Promise<number> {
  for (let pages = 0; ;) {
    const began = performance.now();
    const some = await giveBack();
    if (some === 0) return pages;
    pages += some;
    await sleep(performance.now() - began);
  }
}
