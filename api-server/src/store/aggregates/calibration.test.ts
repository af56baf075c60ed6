import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../web/fixtures/store.ts';
import type { Outcome } from '../../runs/state/model.ts';
import type { Stage } from '../../runs/state/model.ts';
import { labelledExecutions } from './calibration.ts';
import { markRun, markStep } from '../tables/feedback.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const by = { notes: null, submittedAt: 1, submittedBy: 'ann' };
const mark = (runId: string, outcome: Outcome) => store.database.write((tx) => markRun(tx, { runId, outcome, ...by }));
const markOf = (runId: string, stepName: string, outcome: Outcome) =>
  store.database.write((tx) => markStep(tx, { runId, stepName, outcome, ...by }));
const read = ({ stepName = 'look', stage = 'production' }: { stepName?: string; stage?: Stage } = {}) =>
  labelledExecutions(store.database.db, stepName, stage);
const labels = async (over: { stepName?: string; stage?: Stage } = {}) =>
  (await read(over)).map(({ label, n }) => `${label} x ${n}`).toSorted();

test('executions are counted by bucket, confidence and label', async () => {
  for (const n of [1, 2, 3]) {
    const id = await store.addRun(n);
    await store.addStep(id, 'look', { agent_version: n === 3 ? null : 'v1' });
    await mark(id, n === 3 ? 'partial' : 'correct');
  }
  const bucket = {
    agent: 'investigator',
    provider: 'demo',
    model: 'demo/scripted',
    promptHash: 'p1',
    confidence: 0.8,
    pipeline: 'checkout',
  };
  expect((await read()).toSorted((a, b) => a.n - b.n)).toEqual([
    { ...bucket, agentVersion: null, label: 0.5, n: 1 },
    { ...bucket, agentVersion: 'v1', label: 1, n: 2 },
  ]);
});

/** Orchestration 3: step mark, else failed check, else run mark. */
test.each<[step: Outcome | null, checks: 0 | 1 | null, run: Outcome | null, label: string[]]>([
  ['correct', 0, 'incorrect', ['1 x 1']],
  ['partial', 0, null, ['0.5 x 1']],
  ['incorrect', 1, 'correct', ['0 x 1']],
  [null, 0, 'correct', ['0 x 1']],
  [null, 0, null, ['0 x 1']],
  [null, 1, 'partial', ['0.5 x 1']],
  [null, null, 'correct', ['1 x 1']],
  [null, 1, null, []],
  [null, null, null, []],
])('step mark %s, checks %s, run mark %s: %j', async (step, checks, run, expected) => {
  const id = await store.addRun(1);
  await store.addStep(id, 'look', { deterministic_passed: checks });
  if (step) await markOf(id, 'look', step);
  if (run) await mark(id, run);
  expect(await labels()).toEqual(expected);
});

test('the last mark counts', async () => {
  const id = await store.addRun(1);
  await store.addStep(id, 'look');
  await markOf(id, 'look', 'correct');
  await markOf(id, 'look', 'incorrect');
  expect(await labels()).toEqual(['0 x 1']);
});

test('branches of a fan-out count under the name before the slash, names that only begin alike do not', async () => {
  const id = await store.addRun(1);
  for (const name of ['look/0', 'look/11', 'look-2', 'look_2', 'look2', 'loo', 'look0', 'Look'])
    await store.addStep(id, name);
  await mark(id, 'correct');
  expect(await labels()).toEqual(['1 x 2']);
  expect(await labels({ stepName: 'look-2' })).toEqual(['1 x 1']);
});

test('a branch has its own mark, and the others that of the run', async () => {
  const id = await store.addRun(1);
  await store.addStep(id, 'look', { kind: 'fan_out', agent: null });
  for (const name of ['look/0', 'look/1']) await store.addStep(id, name, { kind: 'fan_out_branch' });
  await markOf(id, 'look/1', 'incorrect');
  await mark(id, 'correct');
  expect(await labels()).toEqual(['0 x 1', '1 x 1']);
});

test('a person who approves and a sub-run make no bucket, marked or not', async () => {
  for (const [n, executor] of (['human', 'pipeline'] as const).entries()) {
    const id = await store.addRun(n + 1);
    await store.addStep(id, 'look', { executor, agent: null, effective_confidence: 1 });
    await markOf(id, 'look', 'correct');
  }
  expect(await labels()).toEqual([]);
});

test('testing, replays, other pipelines, rerun rows, groups and answers without a confidence stay out', async () => {
  const add = async (n: number, run: object, step: object, row: 'addRun' | 'addReplay' = 'addRun') => {
    const id = await store[row](n, run);
    await store.addStep(id, 'look', step);
    await mark(id, 'correct');
  };
  await add(1, { stage: 'testing' }, { stage: 'testing' });
  await add(2, { stage: 'testing' }, { stage: 'testing' }, 'addReplay');
  await add(3, { source: 'regression' }, {}, 'addReplay');
  await add(4, {}, { status: 'skipped' });
  await add(5, {}, { kind: 'parallel' });
  await add(6, {}, { effective_confidence: null });
  expect(await labels()).toEqual([]);
  await add(7, {}, {});
  expect(await labels({ stage: 'testing' })).toEqual(['1 x 1']);
});

test('pipelines that ask the same are told apart', async () => {
  for (const [n, pipeline_name] of ['checkout', 'payments', 'payments'].entries()) {
    await store.addStep(await store.addRun(n + 1, { pipeline_name }), 'look', { pipeline_name });
    await mark(runIdOf(n + 1), 'correct');
  }
  const counted = (await read()).map(({ pipeline, n }) => [pipeline, n]);
  expect(counted.toSorted()).toEqual([
    ['checkout', 1],
    ['payments', 2],
  ]);
});
