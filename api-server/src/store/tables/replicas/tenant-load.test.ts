import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS } from '../../../runs/state/hourly.ts';
import { RUN_STATUSES } from '../../../runs/state/model.ts';
import { NOW, openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { countActive, sumTokens } from './tenant-load.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

test('active runs of the named pipelines count, ended ones, sub-runs, replays and those of others do not', async () => {
  for (const [index, status] of RUN_STATUSES.entries()) await store.addRun(index, { status });
  await store.addRun(100, { status: 'running', pipeline_name: 'other' });
  const parent = await store.addRun(101, { status: 'completed' });
  await store.addRun(102, { status: 'running', parent_run_id: parent });
  await store.addReplay(103, { status: 'running' });
  // A sender chooses what its alert calls its source.
  await store.addRun(104, { status: 'running', source: 'replay' });
  const { pipeline_name: name } = await store.database.db
    .selectFrom('runs')
    .select('pipeline_name')
    .where('id', '=', parent)
    .executeTakeFirstOrThrow();
  const count = (...names: string[]) => store.database.write((tx) => countActive(tx, 'shop', names));
  expect(await count(name)).toBe(4);
  expect(await count(name, 'other')).toBe(5);
  expect(await count()).toBe(0);
});

test('tokens since an hour are those of the named pipelines', async () => {
  const hour = NOW - (NOW % HOUR_MS);
  const row = (pipeline: string, at: number, tokens: number) => ({
    hour: at,
    step_name: 'look',
    pipeline_name: pipeline,
    stage: 'production' as const,
    team: '',
    agent: '',
    provider: '',
    model: '',
    cost_source: '' as const,
    status: 'completed' as const,
    executions: 1,
    reporting: 1,
    input_tokens: tokens,
    output_tokens: tokens,
    cost: 0,
    unpriced: 0,
    duration_ms: 1,
  });
  const rows = [row('a', hour, 10), row('b', hour, 100), row('c', hour, 1000), row('a', hour - HOUR_MS, 7)];
  await store.database.write((tx) =>
    tx.db
      .insertInto('hourly_steps')
      .values(rows as never)
      .execute(),
  );
  const sum = (names: string[], since: number) => store.database.write((tx) => sumTokens(tx, names, since));
  expect(await sum(['a', 'b'], hour)).toBe(220);
  expect(await sum(['a'], hour - HOUR_MS)).toBe(34);
  expect(await sum([], hour)).toBe(0);
});
