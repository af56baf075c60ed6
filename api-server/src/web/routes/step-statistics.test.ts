import { afterEach, beforeEach, expect, test } from 'vitest';
import { markRun, markStep } from '../../store/tables/feedback.ts';
import { as, NO_DEFINITIONS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const get = async (url: string) => {
  const answer = await server.app.inject({ url, headers: as('viewer') });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
};
const stats = async (name: string, query = '') => (await get(`/steps/${name}/stats${query}`)).body;
const by = { notes: null, submittedAt: NOW, submittedBy: 'somebody' };
type Outcome = 'correct' | 'partial' | 'incorrect';
const mark = (runId: string, outcome: Outcome) =>
  server.store.database.write((tx) => markRun(tx, { runId, outcome, ...by }));
const markOne = (runId: string, stepName: string, outcome: Outcome) =>
  server.store.database.write((tx) => markStep(tx, { runId, stepName, outcome, ...by }));
const NO_LABELS = {
  counts: 'executions',
  correct: 0,
  partial: 0,
  incorrect: 0,
  total: 0,
  correct_pct: null,
  mean_label: null,
};
const START = { started_at: NOW - HOUR, completed_at: NOW - HOUR + 2_000 };

test('the statistics of a step count its executions in all pipelines, branches under its name', async () => {
  const first = await server.store.addRun(1);
  const second = await server.store.addRun(2, { pipeline_name: 'deploy' });
  await server.store.addStep(first, 'look', { ...START, cost: 0.25, cost_source: 'manual' });
  await server.store.addStep(second, 'look', {
    ...START,
    pipeline_name: 'deploy',
    status: 'failed',
    input_tokens: 30,
    output_tokens: null,
  });
  await server.store.addStep(first, 'each', { ...START, kind: 'fan_out', executor: 'fan_out', agent: null });
  for (const index of [0, 1, 11]) {
    const completed_at = START.started_at + 1_000 * index;
    await server.store.addStep(first, `each/${index}`, { ...START, completed_at, kind: 'fan_out_branch' });
  }
  await server.store.addStep(first, 'each2', START);
  await server.store.addStep(first, 'later', { status: 'skipped' });
  expect(await stats('look')).toEqual({
    step_name: 'look',
    runs_total: 2,
    status_counts: { completed: 1, failed: 1 },
    success_rate: 0.5,
    tokens: { input: 40, output: 5, total: 45 },
    cost: {
      total: 0.25,
      unpriced_steps: 1,
      currency: 'USD',
      by_source: { manual: 0.25, live_exact: null, live_cross_provider: null },
    },
    duration_seconds: { avg: 2, p95: 2 },
    accuracy: NO_LABELS,
    avg_input_tokens: 20,
    avg_output_tokens: 2.5,
    pipelines: [
      { pipeline_name: 'checkout', runs_total: 1, success_rate: 1, accuracy: NO_LABELS },
      { pipeline_name: 'deploy', runs_total: 1, success_rate: 0, accuracy: NO_LABELS },
    ],
  });
  expect(await stats('each')).toMatchObject({ runs_total: 3, duration_seconds: { avg: 4, p95: 11 } });
  expect(await stats('later')).toMatchObject({ runs_total: 0, success_rate: null, avg_input_tokens: null });
});

test('executions that go on are counted as running', async () => {
  const id = await server.store.addRun(1, { status: 'running', completed_at: null });
  await server.store.addStep(id, 'look', { ...START, status: 'running', completed_at: null, input_tokens: null });
  expect(await stats('look')).toMatchObject({ runs_total: 1, status_counts: { running: 1 }, success_rate: null });
  expect(await stats('look', '?stage=testing')).toMatchObject({ runs_total: 0 });
});

test('an execution is labelled by its own mark, else a failed check, else the mark of its run', async () => {
  const labelled = async (n: number, passed: 0 | 1, marks: { step?: Outcome; run?: Outcome }) => {
    const id = await server.store.addRun(n);
    await server.store.addStep(id, 'look', { ...START, deterministic_passed: passed });
    if (marks.step) await markOne(id, 'look', marks.step);
    if (marks.run) await mark(id, marks.run);
  };
  await labelled(1, 0, { step: 'correct', run: 'partial' });
  await labelled(2, 0, { run: 'correct' });
  await labelled(3, 1, { run: 'partial' });
  await labelled(4, 1, {});
  const accuracy = { correct: 1, partial: 1, incorrect: 1, total: 3, correct_pct: 100 / 3 };
  expect(await stats('look')).toMatchObject({ runs_total: 4, accuracy });
  expect((await get('/steps/look/models')).body).toMatchObject({ breakdown: [{ runs_total: 4, accuracy }] });
});

test('the breakdown has a row for every agent and model, the busiest first', async () => {
  const id = await server.store.addRun(1);
  const add = (index: number, values: Parameters<TestServer['store']['addStep']>[2]) =>
    server.store.addStep(id, `look/${index}`, { ...START, ...values });
  await add(0, { model: 'large' });
  await add(1, { model: 'small', status: 'failed' });
  await add(2, { model: 'small', input_tokens: 20, completed_at: START.started_at + 4_000 });
  await add(3, { agent: null, model: null, provider: null, input_tokens: null, output_tokens: null });
  await markOne(id, 'look/2', 'correct');
  const { body } = await get('/steps/look/models');
  expect(body['step_name']).toBe('look');
  expect(body['breakdown']).toEqual([
    {
      agent: 'investigator',
      provider: 'demo',
      model: 'small',
      runs_total: 2,
      status_counts: { completed: 1, failed: 1 },
      success_rate: 0.5,
      avg_input_tokens: 15,
      avg_output_tokens: 5,
      avg_duration_seconds: 3,
      accuracy: { ...NO_LABELS, correct: 1, total: 1, correct_pct: 100, mean_label: 1 },
    },
    expect.objectContaining({ agent: 'investigator', model: 'large', runs_total: 1, accuracy: NO_LABELS }),
    expect.objectContaining({ agent: null, provider: null, model: null, avg_input_tokens: null, runs_total: 1 }),
  ]);
});

test.each([
  ['?time_range=24h', 1],
  ['', 2],
  ['?time_range=all', 3],
  ['?time_range=all&stage=all', 4],
])('executions with %s', async (query, expected) => {
  const starts = [NOW - DAY, NOW - DAY - 1, NOW - 7 * DAY - 1, NOW - 1];
  for (const [n, started_at] of starts.entries()) {
    const stage = n === 3 ? 'testing' : 'production';
    const id = await server.store.addRun(n, { stage });
    await server.store.addStep(id, 'look', { started_at, completed_at: started_at + 1, stage });
  }
  expect(await stats('look', query)).toMatchObject({ runs_total: expected });
  const { breakdown } = (await get(`/steps/look/models${query}`)).body as { breakdown: unknown[] };
  expect(breakdown).toMatchObject([{ runs_total: expected }]);
});

test('a step is known that is in the library or was ever executed', async () => {
  const id = await server.store.addRun(1);
  await server.store.addStep(id, 'inline');
  await server.store.addStep(id, 'skipped', { status: 'skipped' });
  for (const name of ['inline', 'skipped']) expect(await get(`/steps/${name}/stats`)).toMatchObject({ status: 200 });
  for (const rest of ['stats', 'models'])
    expect(await get(`/steps/nobody/${rest}`)).toMatchObject({ status: 404, body: { detail: { type: 'not_found' } } });
  await server.close();
  const stepsByName = new Map([['nobody', {}]]) as unknown as typeof NO_DEFINITIONS.stepsByName;
  server = await startTestServer({ deps: { definitions: () => ({ ...NO_DEFINITIONS, stepsByName }) } });
  expect(await get('/steps/nobody/stats')).toMatchObject({ status: 200, body: { runs_total: 0 } });
  expect((await get('/steps/nobody/models')).body).toEqual({ step_name: 'nobody', breakdown: [] });
});

test('executions of pruned runs stay in the sums', async () => {
  await server.store.addStep(await server.store.addRun(1), 'look', START);
  await server.store.database.write((tx) => tx.db.deleteFrom('runs').execute());
  expect(await stats('look', '?time_range=all')).toMatchObject({ runs_total: 1, tokens: { total: 15 } });
});
