import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { anyMark, markRun, markStep, withdrawRunMark, withdrawStepMark } from './feedback.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

test('there are marks until the last one is withdrawn, of a pipeline and of all', async () => {
  const run = await store.addRun(1);
  await store.addStep(run, 'look');
  const mark = { runId: run, outcome: 'correct', notes: null, submittedAt: 1, submittedBy: 'ada' } as const;
  const { database } = store;
  const there = async () =>
    Promise.all([undefined, 'checkout', 'disk'].map((pipeline) => anyMark(database.db, pipeline)));
  expect(await there()).toEqual([false, false, false]);
  await database.write((tx) => markRun(tx, mark));
  await database.write((tx) => markStep(tx, { ...mark, stepName: 'look' }));
  expect(await there()).toEqual([true, true, false]);
  await database.write((tx) => withdrawRunMark(tx, run));
  expect(await there()).toEqual([true, true, false]);
  await database.write((tx) => withdrawStepMark(tx, { runId: run, stepName: 'look' }, (model) => model));
  expect(await there()).toEqual([false, false, false]);
});
