import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { runCounters, stepCounters } from '../../runs/state/rollups.ts';
import { DAY_MS } from '../../analytics/window.ts';
import { addCounters } from '../db/counters.ts';
import { closeDays } from './daily/close-days.ts';
import { packDays } from './uses/pack-days.ts';
import { checkRollUps } from './roll-up-check.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const step = {
  stage: 'production' as const,
  team: null,
  pipelineName: 'checkout',
  executor: 'gateway' as const,
  agent: 'investigator',
  model: 'demo/scripted',
  provider: 'demo',
  status: 'completed' as const,
  startedAt: 0,
  completedAt: 1_000,
  groundingScore: null,
  deterministicPassed: true,
};
const USED = {
  part: 'answer' as const,
  agent: 'reader',
  model: 'small',
  provider: 'demo',
  inputTokens: 10,
  outputTokens: 5,
  cost: null,
  source: null,
};
const run = { stage: 'production' as const, pipeline: 'checkout', status: 'completed' };
const rollUp = (...names: string[]) =>
  store.database.write((tx) =>
    addCounters(tx, [...runCounters(run), ...names.flatMap((stepName) => stepCounters({ ...step, stepName }, [USED]))]),
  );

test('nothing is behind where every row was counted, branches under the name of their fan-out', async () => {
  const id = await store.addRun(1);
  for (const name of ['look', 'each/0', 'each/1']) await store.addStep(id, name);
  await rollUp('look', 'each/0', 'each/1');
  expect(await checkRollUps(store.database.db)).toEqual([]);
});

test('a row that was not counted is named with both numbers', async () => {
  const id = await store.addRun(1);
  await store.addStep(id, 'look');
  await store.addStep(id, 'conclude');
  await rollUp('look');
  const who = ['checkout', 'conclude', 'gateway', 'investigator', 'demo'];
  expect(await checkRollUps(store.database.db)).toEqual([
    { metric: 'pipeline_steps_total', labels: [...who, 'completed'], counted: 1, rolledUp: 0 },
    { metric: 'pipeline_tokens_total', labels: ['checkout', 'conclude', 'input'], counted: 10, rolledUp: 0 },
    { metric: 'pipeline_tokens_total', labels: ['checkout', 'conclude', 'output'], counted: 5, rolledUp: 0 },
  ]);
});

test('a metric in which names had no room is not compared', async () => {
  const id = await store.addRun(1);
  await store.addStep(id, 'look');
  await store.database.write((tx) => addCounters(tx, [{ ...runCounters(run)[0]!, labels: ['other', 'completed'] }]));
  const behind = await checkRollUps(store.database.db);
  expect(behind?.map(({ metric }) => metric)).not.toContain('pipeline_runs_total');
  expect(behind?.map(({ metric }) => metric)).toContain('pipeline_steps_total');
});

test('a step that is named as what had no room hides no row that was not counted', async () => {
  const id = await store.addRun(1);
  for (const name of ['other', 'look', 'conclude']) await store.addStep(id, name);
  await rollUp('other', 'look');
  const behind = await checkRollUps(store.database.db);
  expect(behind?.map(({ labels }) => labels[1])).toEqual(['conclude', 'conclude', 'conclude']);
});

test('sums of an hour that are behind their rows are named', async () => {
  const id = await store.addRun(1);
  await store.addStep(id, 'each/0');
  await rollUp('each/0');
  await store.database.write((tx) => tx.db.deleteFrom('hourly_runs').execute());
  await store.database.write((tx) => tx.db.updateTable('hourly_steps').set({ executions: 0 }).execute());
  const labels = [String(NOW), 'checkout', 'production', 'completed'];
  expect(await checkRollUps(store.database.db)).toEqual([
    { metric: 'hourly_runs', labels, counted: 1, rolledUp: 0 },
    { metric: 'hourly_steps', labels: [...labels, 'each'], counted: 1, rolledUp: 0 },
  ]);
});

test('packed runs of a day that are behind their rows are named with what they used', async () => {
  const id = await store.addRun(1);
  await store.addStep(id, 'look');
  await rollUp('look');
  const { database } = store;
  const signal = new AbortController().signal;
  expect(await closeDays({ database, now: NOW + 2 * DAY_MS, signal })).toBe(1);
  await packDays({ database, signal });
  expect(await checkRollUps(database.db)).toEqual([]);
  await database.write((tx) => tx.db.deleteFrom('packed_runs').execute());
  const labels = [String(NOW - (NOW % DAY_MS)), 'checkout', 'production', 'completed', '', 'investigator', step.model];
  expect(await checkRollUps(database.db)).toEqual([{ metric: 'packed_runs', labels, counted: 1, rolledUp: 0 }]);
});

test('testing, skipped and running rows and groups need no roll-up', async () => {
  const id = await store.addRun(1, { stage: 'testing' });
  await store.addRun(2, { status: 'running', completed_at: null });
  await store.addStep(id, 'look', { stage: 'testing' });
  await store.addStep(id, 'left-out', { status: 'skipped' });
  await store.addStep(id, 'now', { status: 'running', completed_at: null });
  await store.addStep(id, 'gather', { kind: 'parallel' });
  expect(await checkRollUps(store.database.db)).toEqual([]);
});

test('pruned rows leave the roll-ups above the rows, which is right', async () => {
  await rollUp('look');
  expect(await checkRollUps(store.database.db)).toEqual([]);
});

test('a start does not scan more runs or steps than its limits', async () => {
  for (let n = 1; n <= 4; n++) await store.addRun(n);
  const { db } = store.database;
  expect(await checkRollUps(db, { runs: 3 })).toBeNull();
  expect(await checkRollUps(db, { runs: 4 })).toHaveLength(1);
  const id = await store.addRun(5);
  for (const name of ['each/0', 'each/1', 'each/2']) await store.addStep(id, name);
  expect(await checkRollUps(db, { step_executions: 2 })).toBeNull();
  expect(await checkRollUps(db, { step_executions: 3 })).toHaveLength(4);
  await rollUp('each/0', 'each/1', 'each/2');
  expect(await checkRollUps(db, { counters: 2 })).toBeNull();
});
