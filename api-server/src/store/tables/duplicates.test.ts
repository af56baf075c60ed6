import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { findCovering, findDuplicate, keepCoverage } from './duplicates.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const find = (pipelineName: string, dedupKey = 'k', since = NOW) =>
  store.database.write((tx) => findDuplicate(tx, { pipelineName, dedupKey, since, until: NOW + 10 }));

test('a run of the same pipeline and key suppresses, one of another pipeline or key does not', async () => {
  const id = await store.addRun(1, { pipeline_name: 'p', status: 'running', dedup_key: 'k' });
  expect(await find('p')).toMatchObject({ id });
  expect(await find('q')).toBeNull();
  expect(await find('p', 'other')).toBeNull();
});

test('an ended run suppresses within the window only', async () => {
  const id = await store.addRun(1, { pipeline_name: 'p', status: 'completed', dedup_key: 'k', triggered_at: NOW - 10 });
  expect(await find('p', 'k', NOW - 10)).toMatchObject({ id });
  expect(await find('p', 'k', NOW - 9)).toBeNull();
});

test('an ended run of a time that is still to come suppresses no longer than its window: the clock was set back', async () => {
  const id = await store.addRun(1, { pipeline_name: 'p', status: 'completed', dedup_key: 'k', triggered_at: NOW + 10 });
  expect(await find('p')).toMatchObject({ id });
  await store.addRun(2, { pipeline_name: 'p', status: 'completed', dedup_key: 'late', triggered_at: NOW + 11 });
  expect(await find('p', 'late')).toBeNull();
});

const covered = () =>
  store.database.db
    .selectFrom('run_alerts')
    .select(['pipeline_name', 'alert_key', 'run_id'])
    .orderBy('pipeline_name')
    .orderBy('alert_key')
    .execute();
const keep = (runId: string, keys: string[], pipelineName = 'p') =>
  store.database.write((tx) => keepCoverage(tx, runId, { pipelineName, keys }));

test('an alert that run after run covers is kept for the newest one of each pipeline', async () => {
  const ids = await Promise.all(
    [1, 2, 3].map((n) => store.addRun(n, { pipeline_name: 'p', status: 'completed', triggered_at: NOW + n })),
  );
  const [first = '', second = '', third = ''] = ids;
  await keep(first, ['a', 'b']);
  await keep(first, ['a'], 'q');
  await keep(second, ['b', 'c']);
  await keep(third, ['b']);
  expect(await covered()).toEqual([
    { pipeline_name: 'p', alert_key: 'a', run_id: first },
    { pipeline_name: 'p', alert_key: 'b', run_id: third },
    { pipeline_name: 'p', alert_key: 'c', run_id: second },
    { pipeline_name: 'q', alert_key: 'a', run_id: first },
  ]);
  const asked = { pipelineName: 'p', keys: ['a', 'b', 'c'], since: NOW, until: NOW + 10 };
  const found = await store.database.write((tx) => findCovering(tx, asked));
  expect([...found].map(([key, { id }]) => [key, id]).toSorted()).toEqual([
    ['a', first],
    ['b', third],
    ['c', second],
  ]);
});
