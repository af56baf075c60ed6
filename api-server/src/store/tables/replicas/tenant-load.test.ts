import { afterEach, beforeEach, expect, test } from 'vitest';
import { NAMESPACE_TOKENS } from '../../../runs/cost/cost.ts';
import { RUN_STATUSES } from '../../../runs/state/model.ts';
import { addCounter, NOW, openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { adoptRuns, countActive, tokensOf } from './tenant-load.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const active = (namespace: string) => store.database.write((tx) => countActive(tx, namespace));
const tokens = (namespace: string, month: string) => store.database.write((tx) => tokensOf(tx, namespace, month));
const adopt = (pipelines: string[], now = NOW) =>
  store.database.write((tx) => adoptRuns(tx, { namespace: 'shop', pipelines, now }));
const MONTH = new Date(NOW).toISOString().slice(0, 7);

test('active runs of a namespace count, whatever their pipelines; ended ones, sub-runs and those of others do not', async () => {
  for (const [index, status] of RUN_STATUSES.entries()) await store.addRun(index, { status, namespace: 'shop' });
  await store.addRun(100, { status: 'running', namespace: 'shop', pipeline_name: 'renamed' });
  await store.addRun(101, { status: 'running', namespace: 'bank' });
  await store.addRun(102, { status: 'running' });
  const parent = await store.addRun(103, { status: 'completed', namespace: 'shop' });
  await store.addRun(104, { status: 'running', parent_run_id: parent, namespace: 'shop' });
  expect(await active('shop')).toBe(4);
  expect(await active('bank')).toBe(1);
  expect(await active('')).toBe(0);
});

test('tokens are those of the namespace and the month', async () => {
  await addCounter(store, NAMESPACE_TOKENS, ['shop', '2026-11'], 220);
  await addCounter(store, NAMESPACE_TOKENS, ['bank', '2026-11'], 1);
  expect(await tokens('shop', '2026-11')).toBe(220);
  expect(await tokens('shop', '2026-12')).toBe(0);
});

test('what was stored without a namespace is found by the names of its pipelines, once', async () => {
  const run = await store.addRun(1, { status: 'running' });
  await store.addRun(2, { status: 'running', pipeline_name: 'other' });
  await store.addRun(3, { status: 'running', namespace: 'bank' });
  // A sender chooses what its alert calls its source.
  await store.addRun(4, { status: 'running', source: 'replay' });
  await store.addReplay(5, { status: 'running' });
  await store.addStep(run, 'look', { input_tokens: 30, output_tokens: 3 });
  await store.addStep(run, 'old', { input_tokens: 500, output_tokens: 5, started_at: NOW - 32 * 86_400_000 });
  await store.addStep(run, 'others', { input_tokens: 500, output_tokens: 5, pipeline_name: 'other' });
  await adopt(['checkout', 'second']);
  await adopt(['checkout', 'second']);
  expect(await active('shop')).toBe(2);
  expect(await tokens('shop', MONTH)).toBe(33);
});

test('tokens that were counted are not replaced by what the names say', async () => {
  const run = await store.addRun(1, {});
  await store.addStep(run, 'look', { input_tokens: 30, output_tokens: 3 });
  await addCounter(store, NAMESPACE_TOKENS, ['shop', MONTH], 7);
  await adopt(['checkout']);
  expect(await tokens('shop', MONTH)).toBe(7);
});
