import { afterAll, beforeAll, expect, test } from 'vitest';
import { NOW, openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { markRun, markStep } from '../../tables/feedback.ts';
import { batchesOf, rowsOf } from '../fixtures/evidence.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  const add = async (
    n: number,
    values: Parameters<TestStore['addRun']>[1] = {},
    row: 'addRun' | 'addReplay' = 'addRun',
  ) => {
    const run = await store[row](n, { stage: 'testing', ...values });
    await store.addStep(run, 'look', { stage: 'testing', prompt_hash: `p${n}` });
    return run;
  };
  const first = await add(1);
  await store.addStep(first, 'each/0', { kind: 'fan_out_branch', deterministic_passed: 0, grounding_score: 0.5 });
  const second = await add(2);
  await add(3, { stage: 'production' });
  await add(4, { pipeline_name: 'other' });
  await add(5, {}, 'addReplay');
  await add(6, { source: 'regression' }, 'addReplay');
  const mark = { outcome: 'partial' as const, notes: null, submittedAt: NOW, submittedBy: 'me' };
  await store.database.write(async (tx) => {
    await markRun(tx, { ...mark, runId: first });
    await markStep(tx, { ...mark, outcome: 'correct', runId: second, stepName: 'look' });
  });
});
afterAll(() => store.close());

const read = () => batchesOf(store.database.db, { pipeline: 'checkout', stage: 'testing' });
const rowsRead = async () => (await read()).flatMap(rowsOf);

test('the evidence of a stage: no other stage, no other pipeline, no replays', async () => {
  const rows = await rowsRead();
  expect(rows.map(({ stepName, promptHash }) => `${stepName} ${promptHash}`).toSorted()).toEqual([
    'each/0 p1',
    'look p1',
    'look p2',
  ]);
  expect((await read()).map(({ runs }) => runs.length)).toEqual([2]);
});

test('marks of the step and of its run stand beside each other', async () => {
  const rows = await rowsRead();
  const of = (promptHash: string, stepName: string) =>
    rows.find((row) => row.promptHash === promptHash && row.stepName === stepName);
  expect(of('p1', 'look')).toMatchObject({ stepOutcome: null, runOutcome: 'partial', checkFailed: false });
  expect(of('p1', 'each/0')).toMatchObject({ checkFailed: true, grounding: 0.5 });
  expect(of('p2', 'look')).toMatchObject({ stepOutcome: 'correct', runOutcome: null, agentVersion: 'v1' });
});
