import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { lastStatuses, listRuns } from './list-runs.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

test('the last runs of each pipeline are answered together, the newest at the end', async () => {
  const statuses = ['failed', 'completed', 'escalated', 'stopped'] as const;
  for (const [at, status] of statuses.entries()) await store.addRun(at + 1, { status, pipeline_name: 'disk' });
  await store.addRun(9, { status: 'aborted', pipeline_name: 'checkout' });
  const { db } = store.database;
  expect(await lastStatuses(db, ['disk', 'checkout', "no'ne"], 3)).toEqual(
    new Map([
      ['disk', ['completed', 'escalated', 'stopped']],
      ['checkout', ['aborted']],
    ]),
  );
  expect(await lastStatuses(db, [], 3)).toEqual(new Map());
});

test('so many pipelines as a page has are one statement', async () => {
  await store.addRun(1, { pipeline_name: 'pipeline-149' });
  const names = Array.from({ length: 150 }, (_, at) => `pipeline-${at}`);
  expect([...(await lastStatuses(store.database.db, names, 12)).keys()]).toEqual(['pipeline-149']);
});

test('lists cut long fields of runs that are stored', async () => {
  const long = 'x'.repeat(100_000);
  await store.addRun(1, { team: long, severity: long, summary: long, error_message: long });
  const { runs } = await listRuns(store.database.db, { team: long }, { limit: 1, offset: 0 });
  const cut = `${'x'.repeat(299)}…`;
  expect(runs).toMatchObject([{ team: cut, severity: cut, summary: cut, error: { message: cut } }]);
});
