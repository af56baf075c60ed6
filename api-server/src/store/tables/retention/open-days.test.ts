import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import { closeDays } from '../../aggregates/daily/close-days.ts';
import { pruneRuns } from '../prune.ts';

const LATER = NOW + 100 * 86_400_000;

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

test('a run stays until its day is summed, which waits for the runs of the day that go on', async () => {
  const { database } = store;
  await store.addRun(1);
  await store.addRun(2, { status: 'running', completed_at: null });
  const close = () => closeDays({ database, now: LATER, signal: new AbortController().signal });
  expect(await close()).toBe(0);
  expect(await pruneRuns(database, 90, LATER)).toBe(0);

  const ended = { status: 'completed', completed_at: NOW };
  await database.write(({ db }) => db.updateTable('runs').set(ended).where('id', '=', runIdOf(2)).execute());
  expect(await close()).toBe(1);
  expect(await pruneRuns(database, 90, LATER)).toBe(2);
});
