import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { lastRuns } from './last-runs.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

test('the newest run of each pipeline is told, also that its sub-run waits for a person', async () => {
  await store.addRun(1, { pipeline_name: 'disk', status: 'failed' });
  await store.addRun(2, { pipeline_name: 'disk', source: 'schedule' });
  const live = { status: 'running', completed_at: null };
  const parent = await store.addRun(3, { pipeline_name: "chec'kout", ...live });
  const child = await store.addRun(4, { pipeline_name: 'sub', ...live, parent_run_id: parent, waiting_on: 'human' });
  const found = await lastRuns(store.database.db, ['disk', "chec'kout", 'none']);
  expect([...found]).toMatchObject([
    ['disk', { status: 'completed', source: 'schedule', waitingOn: null }],
    ["chec'kout", { id: parent, status: 'running', waitingOn: `run:${child}` }],
  ]);
  expect(await lastRuns(store.database.db, [])).toEqual(new Map());
});

test('hundreds of pipelines are one statement', async () => {
  await store.addRun(1, { pipeline_name: 'pipeline-1099' });
  const names = Array.from({ length: 1_100 }, (_, at) => `pipeline-${at}`);
  let statements = 0;
  const counted: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const found = await lastRuns(store.database.db.withPlugin(counted), names);
  expect([[...found.keys()], statements]).toEqual([['pipeline-1099'], 3]);
});
