import { expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { newTestDatabase } from '../../fixtures/test-database.ts';
import { packEvidence } from '../evidence/pack-evidence.ts';
import { evidenceRead, recountEvidence } from '../fixtures/evidence.ts';
import { NOW, randomHistory, storeRun } from '../fixtures/random-history.ts';
import { checkPacked } from '../uses/packed-check.ts';
import { packDays } from '../uses/pack-days.ts';
import { closeDays } from './close-days.ts';

const never = new AbortController().signal;

/** The database of a process, of which `before` is done before each write. */
const replica = (database: Database, before: (writes: number) => Promise<unknown> | void) => {
  let writes = 0;
  const write: Database['write'] = async (job) => {
    writes += 1;
    await before(writes);
    return database.write(job);
  };
  return { ...database, write };
};

test.each([
  ['evidence', packEvidence],
  ['runs', packDays],
])('a process that packs the %s of days stops where another one begins, and no part is missing', async (_, packAll) => {
  const site = await newTestDatabase();
  const database = await site.open({ now: () => NOW });
  const history = randomHistory(7, 30);
  const of = { pipeline: 'checkout', stage: 'production' } as const;
  const pack = (by: Database) => packAll({ database: by, signal: never });
  try {
    for (const run of history) await storeRun(database, run);
    await closeDays({ database, now: NOW, signal: never });
    const endsAfterRemoval = () =>
      replica(database, (writes) => {
        // Its turn, and the removal of what an earlier process left.
        if (writes > 2) throw new Error('the process ends');
      });
    const leaderBefore = replica(database, async (writes) => {
      if (writes > 2) await pack(endsAfterRemoval()).catch(() => null);
    });
    await expect(pack(leaderBefore)).rejects.toThrow('another process');
    await pack(database);
    expect(await evidenceRead(database.db, of)).toEqual(recountEvidence(history, of));
    expect(await checkPacked(database.db)).toEqual([]);
  } finally {
    await database.close();
    await site.remove();
  }
});
