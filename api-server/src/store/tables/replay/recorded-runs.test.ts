import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewBytes } from '../../../runs/state/held.ts';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import { searchAll } from '../search/search-job.ts';
import { createRecordedReads } from './recorded-runs.ts';

const BRANCHES = 1_500;
const OF = { runId: runIdOf(1), fanOut: 'look' };
const answer = (at: number) => ({ found: `${at} ${'→'.repeat(3_000)}` });

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  const { database, addRun, addStep } = store;
  await addRun(1);
  await addStep(OF.runId, 'look', { kind: 'fan_out', raw_response: JSON.stringify({ items: ['a', 'b'] }) });
  const { db } = database;
  const row = await db.selectFrom('step_executions').selectAll().executeTakeFirstOrThrow();
  const branch = (at: number) => ({
    ...row,
    id: `branch ${at}`,
    step_name: `look/${at}`,
    kind: 'fan_out_branch' as const,
    output: JSON.stringify(answer(at)),
    raw_response: JSON.stringify({ prompt: `the prompt of ${at}` }),
  });
  await database.write(async (tx) => {
    const body = JSON.stringify({ name: 'p', steps: [] });
    await tx.db
      .insertInto('definitions')
      .values({ hash: 'abc', kind: 'Pipeline', name: 'p', body, stored_at: 1 })
      .execute();
    for (let at = 0; at < BRANCHES; at += 100)
      await tx.db
        .insertInto('step_executions')
        .values(Array.from({ length: 100 }, (_, nth) => branch(at + nth)))
        .execute();
  });
});
afterAll(() => store.close());

test('a recorded run keeps of its executions what later steps see, the most of it compressed', async () => {
  const { database } = store;
  const reads = createRecordedReads(database.db);
  const read = async () => {
    const recorded = await reads.readRecorded(OF);
    const { steps = [], items } = recorded ?? {};
    expect(items).toEqual(['a', 'b']);
    expect(steps).toHaveLength(BRANCHES + 1);
    expect(JSON.stringify(recorded)).not.toContain('the prompt of');
    expect(steps.reduce((sum, { view }) => sum + viewBytes(view), 0)).toBeLessThan(2.5 * 1024 * 1024);
    return Object.fromEntries(steps.map(({ stepName, view }) => [stepName, view.output]));
  };
  const before = await read();
  for (const at of [0, BRANCHES - 1]) expect(before[`look/${at}`]).toEqual(answer(at));
  await searchAll({ database, upTo: 1, log: { info: () => undefined, warn: () => undefined } });
  expect(await database.db.selectFrom('run_bodies').select('seq').execute()).toEqual([{ seq: 1 }]);
  expect(await read()).toEqual(before);
  expect((await reads.readExecution('branch 7'))?.rawResponse?.prompt).toBe('the prompt of 7');
});

test('one recorded run is read at a time, and one that cannot be read holds up no other', async () => {
  const { db } = store.database;
  /** What is read, in its order. */
  let log: string[] = [];
  let isAway = false;
  const seen = new Proxy(db, {
    get: (target, key) => {
      if (key !== 'selectFrom') return Reflect.get(target, key);
      return (table: 'runs') => {
        log.push(table);
        if (!isAway) return target.selectFrom(table);
        isAway = false;
        throw new Error('the database is away');
      };
    },
  });
  const reads = createRecordedReads(seen);
  await reads.readRecorded(OF);
  const once = log;
  log = [];
  isAway = true;
  const all = await Promise.allSettled([1, 2, 3].map(() => reads.readRecorded(OF)));
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(once.length).toBeGreaterThan(3);
  expect(log).toEqual(['runs', ...once, ...once]);
});
