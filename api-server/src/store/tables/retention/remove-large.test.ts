import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import type { Database } from '../../db/database.ts';
import { addLargeRun } from '../../fixtures/large-run.ts';
import { MOST_STEPS } from '../bodies/step-counts.ts';
import { closeDays } from '../../aggregates/daily/close-days.ts';
import { pruneRuns } from '../prune.ts';
import { insertGoldenSet } from '../replay/golden-sets.ts';
import { insertGoldenMember, recordedStep } from '../replay/golden-members.ts';
import { readRecorded } from '../replay/recorded-runs.ts';
import { runDetail } from '../run-detail.ts';

const LATER = NOW + 100 * 86_400_000;
const LARGE = 2 * MOST_STEPS + 100;

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const TABLES = ['step_executions', 'judged_steps', 'step_feedback', 'run_events', 'runs'] as const;

async function rowsIn(db: Database['db']): Promise<number> {
  const counts = await Promise.all(
    TABLES.map((table) =>
      db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number | string>().as('rows'))
        .executeTakeFirstOrThrow(),
    ),
  );
  return counts.reduce((sum, { rows }) => sum + Number(rows), 0);
}

/** The database, and how many rows each of its transactions removed; after `most` of them that removed some the next one fails. */
function watched(most = Infinity) {
  const removed: number[] = [];
  const write: Database['write'] = (job) =>
    store.database.write(async (tx) => {
      const before = await rowsIn(tx.db);
      const result = await job(tx);
      const rows = before - (await rowsIn(tx.db));
      if (rows > 0) removed.push(rows);
      if (removed.length > most) throw new Error('the process ends before its commit');
      return result;
    });
  return { database: { ...store.database, write }, removed };
}

const close = () => closeDays({ database: store.database, now: LATER, signal: new AbortController().signal });

const addEvents = (id: string) =>
  store.database.write(async ({ db }) => {
    for (let at = 0; at < LARGE; at += 100) {
      const rows = Array.from({ length: 100 }, (_, nth) => ({ run_id: id, first_seq: at + nth, events: '[]' }));
      await db.insertInto('run_events').values(rows).execute();
    }
  });

test('runs with many steps are removed some rows at a time, small ones beside them', async () => {
  for (let run = 1; run <= 60; run += 1) await store.addRun(run);
  for (let run = 61; run <= 64; run += 1) await addLargeRun(store, run, MOST_STEPS * 0.4);
  await addEvents(await addLargeRun(store, 65, LARGE));
  await close();
  const { database, removed } = watched();
  expect(await pruneRuns(database, 90, LATER)).toBe(65);
  expect(await rowsIn(store.database.db)).toBe(0);
  // A run goes with its steps.
  expect(Math.max(...removed)).toBeLessThanOrEqual(MOST_STEPS * 1.2);
});

test('a large run is not seen in part, and is removed after a process that was killed, even where it would be kept by then', async () => {
  const { database } = store;
  const id = await addLargeRun(store, 1, LARGE);
  await close();
  const sums = await database.db.selectFrom('hourly_steps').selectAll().execute();
  await expect(pruneRuns(watched(3).database, 90, LATER)).rejects.toThrow('before its commit');
  expect(await rowsIn(database.db)).toBeGreaterThan(1);
  expect(await runDetail(database.db, id, { raw: false })).toBeNull();
  expect(await readRecorded(database.db, { runId: id, fanOut: null })).toBeNull();
  const left = await database.db.selectFrom('step_executions').select('step_name').limit(1).executeTakeFirstOrThrow();
  expect(await recordedStep(database.db, { runId: id, stepName: left.step_name })).toBeNull();

  expect(await pruneRuns(database, 1_000, LATER)).toBe(1);
  expect(await rowsIn(database.db)).toBe(0);
  expect(await database.db.selectFrom('marks').select('name').where('name', 'like', 'removing:%').execute()).toEqual(
    [],
  );
  expect(await database.db.selectFrom('hourly_steps').selectAll().execute()).toEqual(sums);
});

test('a large run with a pinned step stays whole', async () => {
  const { database } = store;
  await addLargeRun(store, 1, LARGE);
  const rows = await rowsIn(database.db);
  await database.write(async (tx) => {
    await insertGoldenSet(tx, {
      id: 'set',
      name: 'set',
      description: '',
      stepName: 'look',
      createdAt: 1,
      createdBy: 'ann',
      archivedAt: null,
    });
    await insertGoldenMember(tx, {
      id: 'member',
      setId: 'set',
      stepId: `${runIdOf(1)}/look[0]`,
      runId: runIdOf(1),
      stepName: 'look[0]',
      outcome: 'correct',
      labelSource: 'human',
      note: null,
      pinnedAt: 1,
      pinnedBy: 'ann',
      promptHash: null,
      agentVersion: null,
    });
  });
  await close();
  expect(await pruneRuns(database, 90, LATER)).toBe(0);
  expect(await rowsIn(database.db)).toBe(rows);
});
