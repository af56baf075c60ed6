import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../../analytics/window.ts';
import { NOW, openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { addLargeRun } from '../../fixtures/large-run.ts';
import { closeDays } from '../daily/close-days.ts';
import { batchesOf, rowsOf } from '../fixtures/evidence.ts';
import { packEvidence } from './pack-evidence.ts';
import { MOST_ROWS } from './stored-runs.ts';

const MORE = 3;
let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  await store.addStep(await store.addRun(1), 'before');
  const large = await addLargeRun(store, 2, MOST_ROWS + MORE);
  for (const n of [1, 2, 3]) await store.addStep(large, `not-needed-${n}`, { status: 'skipped' });
  await store.addStep(await store.addRun(3), 'after');
});
afterAll(() => store.close());

const OF = { pipeline: 'checkout', stage: 'production' } as const;
const read = async () => {
  const batches = await batchesOf(store.database.db, OF);
  const sizes = batches.map(({ columns }) => columns.run.length);
  return { runs: batches.map(({ runs }) => runs), sizes, names: batches.flatMap(rowsOf).map((row) => row.stepName) };
};

test('a run of very many executions is read in pages, without what was skipped, and its day is packed so', async () => {
  const { runs, sizes, names } = await read();
  expect(sizes).toEqual([1, MOST_ROWS, MORE, 1]);
  const [last, large, again, first] = runs;
  expect([last?.length, large?.length, first?.length]).toEqual([1, 1, 1]);
  expect(again).toEqual(large);
  expect(new Set(names).size).toBe(MOST_ROWS + MORE + 2);
  expect(names.filter((name) => name.startsWith('not-needed'))).toEqual([]);

  const { database } = store;
  const signal = new AbortController().signal;
  await closeDays({ database, now: NOW + 2 * DAY_MS, signal });
  // Of a process that ended in the middle.
  const day = Math.floor(NOW / DAY_MS) * DAY_MS;
  const left = { pipeline_name: OF.pipeline, stage: OF.stage, day, part: 99, body: new Uint8Array() };
  await database.write(({ db }) => db.insertInto('packed_evidence').values(left).execute());
  expect(await packEvidence({ database, signal })).toBe(1);
  const packed = await database.db.selectFrom('packed_evidence').select('part').execute();
  expect(packed).toHaveLength(sizes.length);
  const unpacked = await read();
  expect(unpacked.names.toSorted()).toEqual(names.toSorted());
});
