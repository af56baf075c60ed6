import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../web/fixtures/store.ts';
import { newestRun } from '../tables/search/index-runs.ts';
import { searchAll } from '../tables/search/search-job.ts';
import { markRun, markStep } from '../tables/feedback.ts';
import { unmarkedSteps, type UnmarkedFilter, withAnswers } from './unmarked-steps.ts';
import type { StepRow } from '../db/rows/step-row.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const waiting = async (filter: UnmarkedFilter = {}, limit = 50) => {
  const { steps, more } = await unmarkedSteps(store.database.db, filter, limit);
  return { names: steps.map((step) => `${step.pipelineName}/${step.stepName}`), more };
};
const answers = async () => {
  const { db } = store.database;
  return withAnswers(db, (await unmarkedSteps(db, {}, 10)).steps);
};
const mark = { outcome: 'correct', notes: null, submittedAt: 1, submittedBy: 'ada' } as const;

test('answers without a label wait, the newest run first and its steps in order', async () => {
  const older = await store.addRun(1);
  await store.addStep(older, 'look');
  const newer = await store.addRun(2, { pipeline_name: 'disk' });
  await store.addStep(newer, 'second', { pipeline_name: 'disk', step_index: 1 });
  await store.addStep(newer, 'first', { pipeline_name: 'disk', step_index: 0 });
  expect(await waiting()).toEqual({ names: ['disk/first', 'disk/second', 'checkout/look'], more: false });
  expect(await waiting({}, 2)).toEqual({ names: ['disk/first', 'disk/second'], more: true });
});

test('a mark of the step or of its run takes an answer away', async () => {
  const [one, two] = [await store.addRun(1), await store.addRun(2)];
  for (const run of [one, two]) await store.addStep(run, 'look');
  await store.addStep(one, 'decide', { step_index: 1 });
  await store.database.write((tx) => markStep(tx, { ...mark, runId: one, stepName: 'look' }));
  await store.database.write((tx) => markRun(tx, { ...mark, runId: two }));
  expect((await waiting()).names).toEqual(['checkout/decide']);
});

test.each<[string, Partial<StepRow>]>([
  ['a step that failed', { status: 'failed' }],
  ['a step that still runs', { status: 'running', completed_at: null }],
  ['a step that nobody was asked for', { agent: null, executor: 'webhook' }],
  ['a step without a confidence', { primary_confidence: null }],
  ['a failed check, which says that it was wrong', { deterministic_passed: 0 }],
])('%s does not wait', async (_name, values) => {
  await store.addStep(await store.addRun(1), 'look', values);
  expect((await waiting()).names).toEqual([]);
});

test('an answer that escalated waits, one of a replay does not', async () => {
  await store.addStep(await store.addRun(1), 'look', { status: 'escalated', deterministic_passed: null });
  await store.addStep(await store.addReplay(2, { stage: 'testing' }), 'again', { stage: 'testing' });
  await store.addStep(await store.addReplay(3, { source: 'regression', stage: 'testing' }), 'again');
  expect((await waiting()).names).toEqual(['checkout/look']);
});

test('filters by pipeline, stage and step; a fan-out step stands for its branches', async () => {
  const run = await store.addRun(1, { pipeline_name: 'disk', stage: 'testing' });
  await store.addStep(run, 'each/0', { pipeline_name: 'disk', stage: 'testing' });
  await store.addStep(run, 'each-other', { pipeline_name: 'disk', stage: 'testing', step_index: 1 });
  await store.addStep(await store.addRun(2), 'look');
  expect((await waiting({ pipeline: 'disk' })).names).toEqual(['disk/each/0', 'disk/each-other']);
  expect((await waiting({ stage: 'production' })).names).toEqual(['checkout/look']);
  expect((await waiting({ step: 'each' })).names).toEqual(['disk/each/0']);
});

test('an answer comes with what is needed to judge it', async () => {
  const report = { trust: 0.4, threshold: 0.75, sentence: 'Not passed: 0.4 is below 0.75.' };
  const run = await store.addRun(1);
  await store.addStep(run, 'look', { trust_report: JSON.stringify(report) });
  expect(await answers()).toMatchObject([
    {
      runId: runIdOf(1),
      runSummary: 'Checkout is slow',
      agent: 'investigator',
      summary: 'Database pool is exhausted',
      output: { action: 'restart' },
      trustReport: report,
    },
  ]);
});

test('a long answer is cut, and a report as long is not read, also where they are packed', async () => {
  const { database } = store;
  const long = 'x'.repeat(100_000);
  const report = { trust: 0.4, threshold: 0.75, sentence: long };
  await store.addStep(await store.addRun(1, { summary: long }), 'look', {
    summary: long,
    output: JSON.stringify({ action: long }),
    trust_report: JSON.stringify(report),
  });
  const [plain] = await answers();
  const { bytes } = await unmarkedSteps(database.db, {}, 10);
  await searchAll({ database, upTo: await newestRun(database.db), log: { info: () => {}, warn: () => {} } });
  const [row] = await database.db.selectFrom('step_executions').select(['output', 'trust_report']).execute();
  expect(row).toEqual({ output: '', trust_report: '' });
  expect((await answers())[0]).toEqual(plain);
  expect(plain).toMatchObject({ trustReport: null, output: { cut: expect.stringMatching(/^{"action":"x{16373}…$/) } });
  expect([plain?.runSummary?.length, plain?.summary?.length]).toEqual([300, 16_385]);
  expect(bytes).toBeGreaterThan(3 * 16_384);
});
