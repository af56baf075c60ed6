import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import type { Database } from '../../db/database.ts';
import { addLargeRun } from '../../fixtures/large-run.ts';
import { createDeclared } from '../results/declared.ts';
import { runDetail } from '../run-detail.ts';
import { newestRun } from '../search/index-runs.ts';
import { searchAll } from '../search/search-job.ts';
import { setMark } from '../marks.ts';
import { narrowLarge } from './keep-packed.ts';
import { REPACK, repackSome } from './repack.ts';
import { MOST_STEPS } from './step-counts.ts';

const QUIET = { info: () => undefined, warn: () => undefined };
const LARGE = 2 * MOST_STEPS + 100;

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const addRun = (run: number, steps: number) => addLargeRun(store, run, steps);

const packedIn = async (db: Database['db']): Promise<number> => {
  const { packed } = await db
    .selectFrom('step_executions')
    .select(({ fn }) => fn.countAll<number | string>().as('packed'))
    .where('output', '=', '')
    .executeTakeFirstOrThrow();
  return Number(packed);
};

/** The database, and how many steps each of its transactions packed; the one that `cut` says so of fails at its end. */
function watched(cut: (packed: readonly number[]) => boolean = () => false) {
  const { database } = store;
  const packed: number[] = [];
  const write: Database['write'] = (job) =>
    database.write(async (tx) => {
      const before = await packedIn(tx.db);
      const result = await job(tx);
      packed.push((await packedIn(tx.db)) - before);
      if (cut(packed)) throw new Error('the process ends before its commit');
      return result;
    });
  return { database: { db: database.db, write }, packed };
}

async function seen(run: number) {
  const detail = await runDetail(store.database.db, runIdOf(run), { raw: true });
  return [detail?.context, detail?.raw, detail?.steps];
}
const marks = () => store.database.db.selectFrom('marks').select('name').where('name', 'like', 'both:%').execute();
const searched = async (database: Pick<Database, 'db' | 'write'>) =>
  searchAll({ database, upTo: await newestRun(store.database.db), log: QUIET });

test('runs with many steps together are packed in several transactions', async () => {
  for (let run = 1; run <= 4; run += 1) await addRun(run, MOST_STEPS * 0.4);
  const { database, packed } = watched();
  await searched(database);
  expect(Math.max(...packed)).toBeLessThanOrEqual(MOST_STEPS);
  expect(await packedIn(database.db)).toBeGreaterThan(MOST_STEPS);
  expect(await store.database.db.selectFrom('run_bodies').select('seq').execute()).toHaveLength(4);
  expect(await marks()).toEqual([]);
});

test('a large run is packed in pieces and reads the same at any time, also after a process that was killed between two', async () => {
  await addRun(1, 3);
  await addRun(2, LARGE);
  await addRun(3, 3);
  const before = [await seen(1), await seen(2), await seen(3)];
  const first = watched();
  await searched(first.database);
  expect(await store.database.db.selectFrom('run_bodies').select('seq').execute()).toHaveLength(3);
  expect(await marks()).toHaveLength(1);
  expect(await seen(2)).toEqual(before[1]);

  const killed = watched((packed) => packed.length === 2);
  await expect(narrowLarge({ database: killed.database, log: QUIET })).rejects.toThrow('before its commit');
  expect(await seen(2)).toEqual(before[1]);
  expect(await marks()).toHaveLength(1);

  const again = watched();
  await narrowLarge({ database: again.database, log: QUIET });
  expect([await seen(1), await seen(2), await seen(3)]).toEqual(before);
  expect(await marks()).toEqual([]);
  expect(Math.max(...first.packed, ...killed.packed, ...again.packed)).toBeLessThanOrEqual(MOST_STEPS);
  const { left } = await store.database.db
    .selectFrom('step_executions')
    .select(({ fn }) => fn.countAll<number | string>().as('left'))
    .where('output', '<>', '')
    .executeTakeFirstOrThrow();
  expect(Number(left)).toBe(0);
});

test('a large run of an older version is packed in pieces, too', async () => {
  await addRun(1, LARGE);
  await addRun(2, 3);
  const before = [await seen(1), await seen(2)];
  await store.database.write((tx) => setMark(tx, REPACK, 0));
  const { database, packed } = watched();
  const some = { upTo: 2, most: 20, readDeclared: createDeclared(database.db), log: QUIET };
  expect(await repackSome(database, some)).toBe(1);
  expect(await repackSome(database, some)).toBe(2);
  await narrowLarge({ database, log: QUIET });
  expect([await seen(1), await seen(2)]).toEqual(before);
  expect(await packedIn(database.db)).toBeGreaterThan(MOST_STEPS);
  expect(Math.max(...packed)).toBeLessThanOrEqual(MOST_STEPS);
});

test('where the body of a large run cannot be read, its steps keep their texts', async () => {
  await addRun(1, LARGE);
  await searched(store.database);
  await store.database.write(({ db }) =>
    db
      .updateTable('run_bodies')
      .set({ body: Buffer.from('torn') })
      .execute(),
  );
  const warned: string[] = [];
  const log = { warn: (_: object, message: string) => void warned.push(message) };
  await narrowLarge({ database: store.database, log });
  expect(warned).toHaveLength(1);
  expect([await packedIn(store.database.db), await marks()]).toEqual([0, []]);
});

test('a large run that was removed meanwhile is not waited for', async () => {
  await addRun(1, LARGE);
  await searched(store.database);
  await store.database.write(({ db }) => db.deleteFrom('runs').execute());
  await narrowLarge({ database: store.database, log: QUIET });
  expect(await marks()).toEqual([]);
});
