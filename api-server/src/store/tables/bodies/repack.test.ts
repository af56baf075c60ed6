import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import type { Database } from '../../db/database.ts';
import { createDeclared } from '../results/declared.ts';
import { setMark } from '../marks.ts';
import { runDetail } from '../run-detail.ts';
import { REPACK, repackSome } from './repack.ts';
import { readEvents } from './run-bodies.ts';

const RUNS = 7;
const CONTEXT = { labels: { alertname: 'DiskFull' }, annotations: {}, metadata: {} };
const OUTPUT = { action: 'grow the disk', detail: 'x'.repeat(300) };

let store: TestStore;
/** As version 0.2.0 left them: packed without their steps. The fourth has not ended, the sixth is still to be made findable. */
beforeAll(async () => {
  store = await openTestStore();
  for (let run = 1; run <= RUNS; run += 1) {
    await store.addRun(run, {
      context: '{}',
      raw: null,
      ...(run === 4 ? { status: 'running', completed_at: null } : {}),
    });
    await store.addStep(runIdOf(run), 'look', { output: JSON.stringify(OUTPUT), raw_response: '{"prompt":"look"}' });
  }
  await store.database.write(async (tx) => {
    await setMark(tx, REPACK, 0);
    const body = zstdCompressSync(JSON.stringify({ context: CONTEXT, raw: { n: 1 }, events: [{ seq: 1 }] }));
    for (const seq of [1, 2, 3, 5, 7]) await tx.db.insertInto('run_bodies').values({ seq, body }).execute();
    await tx.db
      .insertInto('unsearched')
      .values([{ seq: 4 }, { seq: 6 }])
      .execute();
  });
});
afterAll(() => store.close());

const seen = () =>
  Promise.all(
    Array.from({ length: RUNS }, async (_, at) => {
      const { database } = store;
      const detail = await runDetail(database.db, runIdOf(at + 1), { raw: true });
      return [detail?.context, detail?.raw, detail?.steps, await readEvents(database.db, runIdOf(at + 1), 0)];
    }),
  );

const packedRuns = async () => {
  const { db } = store.database;
  const rows = await db.selectFrom('step_executions').select(['run_id', 'output']).orderBy('run_id').execute();
  return rows.flatMap(({ output }, at) => (output === '' ? [at + 1] : []));
};

test('runs that were packed without their steps are packed with them, some at a time, and again after a transaction that failed', async () => {
  const { database } = store;
  const before = await seen();
  expect(before[0]?.[0]).toEqual(CONTEXT);
  const some = { upTo: RUNS, most: 2, readDeclared: createDeclared(database.db), log: { warn: () => undefined } };
  expect(await repackSome(database, some)).toBe(2);
  expect([await packedRuns(), await seen()]).toEqual([[1, 2], before]);

  const cut: Pick<Database, 'db' | 'write'> = {
    db: database.db,
    write: (job) =>
      database.write(async (tx) => {
        await job(tx);
        throw new Error('the process ends before its commit');
      }),
  };
  await expect(repackSome(cut, some)).rejects.toThrow('before its commit');
  expect([await packedRuns(), await seen()]).toEqual([[1, 2], before]);

  for (let at: number | null = 2; at !== null;) at = await repackSome(database, some);
  expect([await packedRuns(), await seen()]).toEqual([[1, 2, 3, 5, 7], before]);
  expect(await database.db.selectFrom('marks').selectAll().where('name', '=', REPACK).execute()).toEqual([]);
  expect(await repackSome(database, some)).toBeNull();
});
