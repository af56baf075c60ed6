import { afterEach, beforeEach, expect, test } from 'vitest';
import { StatisticsParams } from '../../service/statistics/statistics-query.ts';
import { createStatistics } from '../../service/statistics/statistics.ts';
import { markRun } from '../../store/tables/feedback.ts';
import { as, NO_DEFINITIONS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';
import type { Stage } from '../../runs/state/model.ts';

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
const stats = async (query = '') => (await get(`/pipelines/checkout/stats${query}`)).body;
const mark = (runId: string, outcome: 'correct' | 'partial' | 'incorrect') =>
  server.store.database.write((tx) =>
    markRun(tx, { runId, outcome, notes: null, submittedAt: NOW, submittedBy: 'somebody' }),
  );
/** An ended run with one step of the same times. */
async function addRun(
  n: number,
  run: Omit<NonNullable<Parameters<TestServer['store']['addRun']>[1]>, 'stage'> & { stage?: Stage } = {},
  step: Parameters<TestServer['store']['addStep']>[2] = {},
) {
  const { pipeline_name = 'checkout', stage = 'production', team = null, triggered_at = NOW - HOUR } = run;
  const completed_at = triggered_at + 1_000 * n;
  const id = await server.store.addRun(n, { completed_at, ...run, triggered_at });
  const own = { pipeline_name, stage, team, started_at: triggered_at, completed_at };
  await server.store.addStep(id, 'look', { ...own, ...step });
  return id;
}

test('the statistics of a pipeline have runs, tokens, cost, durations, accuracy and teams', async () => {
  const priced = { cost: 0.25, cost_source: 'manual' };
  await mark(await addRun(1, { team: 'payments' }, priced), 'correct');
  await mark(
    await addRun(2, { team: 'payments', status: 'failed' }, { cost: 0.5, cost_source: 'live_exact' }),
    'incorrect',
  );
  await mark(await addRun(3), 'correct');
  await addRun(4, { status: 'cancelled' }, { input_tokens: null, output_tokens: null });
  await server.store.addRun(5, { status: 'running', completed_at: null, triggered_at: NOW - HOUR });
  const cost = (total: number | null, manual: number | null, live_exact: number | null, unpriced_steps: number) => ({
    total,
    unpriced_steps,
    currency: 'USD',
    by_source: { manual, live_exact, live_cross_provider: null },
  });
  expect(await stats()).toEqual({
    pipeline_name: 'checkout',
    runs_total: 5,
    status_counts: { cancelled: 1, completed: 2, failed: 1, running: 1 },
    success_rate: 2 / 3,
    tokens: { input: 30, output: 15, total: 45 },
    cost: cost(0.75, 0.25, 0.5, 1),
    duration_seconds: { avg: 2.5, p95: 4, machine_p95: 4, waiting_p95: null },
    accuracy: {
      counts: 'runs',
      correct: 2,
      partial: 0,
      incorrect: 1,
      total: 3,
      correct_pct: 200 / 3,
      mean_label: 2 / 3,
    },
    teams: [
      { team: 'payments', runs_total: 2, tokens: { input: 20, output: 10, total: 30 }, cost: cost(0.75, 0.25, 0.5, 0) },
      { team: null, runs_total: 3, tokens: { input: 10, output: 5, total: 15 }, cost: cost(null, null, null, 1) },
    ],
  });
});

test('what nobody priced or marked is null and never 0', async () => {
  await addRun(1, { status: 'cancelled' });
  expect(await stats()).toMatchObject({
    success_rate: null,
    cost: { total: null, unpriced_steps: 1, by_source: { manual: null } },
    accuracy: { total: 0, correct_pct: null },
  });
  await addRun(2, {}, { cost: 0, cost_source: 'manual' });
  expect(await stats()).toMatchObject({ cost: { total: 0, unpriced_steps: 1, by_source: { manual: 0 } } });
});

test.each([
  ['', 2],
  ['?time_range=24h', 1],
  ['?time_range=7d', 2],
  ['?time_range=30d', 3],
  ['?time_range=all', 4],
  ['?time_range=all&stage=testing', 1],
  ['?time_range=all&stage=all', 5],
  ['?stage=production', 2],
])('runs_total with %s', async (query, expected) => {
  await addRun(1, { triggered_at: NOW - DAY });
  await addRun(2, { triggered_at: NOW - DAY - 1 });
  await addRun(3, { triggered_at: NOW - 30 * DAY });
  await addRun(4, { triggered_at: NOW - 30 * DAY - 1 });
  await addRun(5, { stage: 'testing', source: 'replay' });
  expect(await stats(query)).toMatchObject({ runs_total: expected, tokens: { input: 10 * expected } });
});

test('all pipelines with a run in the time range are told, and no other', async () => {
  await addRun(1);
  await addRun(2, { pipeline_name: 'deploy', status: 'running', completed_at: null });
  await addRun(3, { pipeline_name: 'old', triggered_at: NOW - 8 * DAY });
  await addRun(4, { pipeline_name: 'trial', stage: 'testing' });
  const { pipelines } = (await get('/stats/pipelines')).body as { pipelines: Record<string, unknown>[] };
  expect(pipelines.map((one) => [one['pipeline_name'], one['runs_total']])).toEqual([
    ['checkout', 1],
    ['deploy', 1],
  ]);
  expect(pipelines[0]).toEqual(await stats());
});

test('the insights page has the numbers of the routes, over time and against the window before', async () => {
  await mark(await addRun(1, {}, { cost: 0.25, cost_source: 'manual' }), 'correct');
  await addRun(2, { triggered_at: NOW - 2 * DAY, status: 'failed' });
  await addRun(3, { triggered_at: NOW - 7 * DAY - 1 }, { cost: 4, cost_source: 'manual' });
  await addRun(4, { triggered_at: NOW - 14 * DAY - 1 });
  await addRun(5, { stage: 'testing' });
  const { database } = server.store;
  const statistics = createStatistics({
    database,
    definitions: () => NO_DEFINITIONS,
    currency: 'USD',
    budgets: {},
    now: () => NOW,
  });
  const query = { timeRange: '7d', stage: 'production' } as const;
  const { signal } = new AbortController();
  const { now, before, points, pipelines, agents, models } = await statistics.insights(query, signal);
  expect({ pipelines }).toEqual((await get('/stats/pipelines')).body);
  const { pipeline_name: _, teams: __, ...figures } = await stats();
  expect(now).toEqual(figures);
  expect(before).toMatchObject({ runs_total: 1, success_rate: 1, cost: { total: 4 }, duration_seconds: { p95: 3 } });
  expect(points).toHaveLength(29);
  expect([points[0]?.from, points.at(-1)?.to]).toEqual([NOW - 7 * DAY, NOW]);
  const busy = points.filter(({ figures: { runs_total: runs } }) => runs > 0);
  expect(busy).toMatchObject([
    { figures: { runs_total: 1, success_rate: 0, duration_seconds: { p95: 2 }, cost: { total: null } } },
    { figures: { runs_total: 1, success_rate: 1, accuracy: { correct: 1 }, cost: { total: 0.25 } } },
  ]);
  for (const work of [agents, models]) {
    expect(work).toHaveLength(1);
    expect(work[0]).toMatchObject({ tokens: now.tokens, cost: now.cost });
  }
  const trend = await statistics.trend(signal);
  expect(trend).toHaveLength(14);
  expect(trend.filter(({ runs }) => runs > 0)).toMatchObject([
    { from: NOW - (NOW % DAY) - 7 * DAY, runs: 1, cost: 4 },
    { from: NOW - (NOW % DAY) - 2 * DAY, runs: 1, failed: 1, cost: null },
    { from: NOW - (NOW % DAY), runs: 2, escalated: 0, cost: 0.25 },
  ]);
});

test('a scrape reads no sums of hours, however many there are', async () => {
  await server.store.database.write(async ({ db }) => {
    await db.schema.dropTable('hourly_runs').execute();
    await db.schema.dropTable('hourly_steps').execute();
  });
  expect((await server.app.inject('/metrics')).statusCode).toBe(200);
  expect(await get('/stats/pipelines')).toMatchObject({ status: 500 });
});

test('sums stay when runs are pruned, and the pipeline is still known', async () => {
  await addRun(1, {}, { cost: 0.25, cost_source: 'manual' });
  await server.store.database.write((tx) => tx.db.deleteFrom('runs').execute());
  expect(await stats('?time_range=all')).toMatchObject({
    runs_total: 1,
    success_rate: 1,
    tokens: { total: 15 },
    cost: { total: 0.25 },
    duration_seconds: { avg: 1, p95: null, machine_p95: null, waiting_p95: null },
  });
});

test('a pipeline without runs has empty statistics where it is loaded, and is 404 where it is not', async () => {
  expect(await get('/pipelines/nobody/stats')).toMatchObject({ status: 404, body: { detail: { type: 'not_found' } } });
  const byName = new Map([['checkout', {}]]) as unknown as typeof NO_DEFINITIONS.byName;
  await server.close();
  server = await startTestServer({ deps: { definitions: () => ({ ...NO_DEFINITIONS, byName }) } });
  expect(await stats()).toMatchObject({
    runs_total: 0,
    status_counts: {},
    success_rate: null,
    duration_seconds: { avg: null, p95: null, machine_p95: null, waiting_p95: null },
    teams: [],
  });
});

test('pipeline, team, agent and model narrow the figures: executions of an agent, and runs that had one', async () => {
  await mark(await addRun(1, { team: 'payments' }, { agent: 'triage', model: 'small' }), 'correct');
  const both = await addRun(2, { team: 'shop' }, { agent: 'triage', model: 'large' });
  await server.store.addStep(both, 'decide', {
    team: 'shop',
    agent: 'judge',
    model: 'large',
    started_at: NOW - HOUR,
  });
  await mark(both, 'incorrect');
  await addRun(3, { pipeline_name: 'deploy', team: 'shop' }, { agent: 'judge', model: 'small' });
  await addRun(4, { triggered_at: NOW - 8 * DAY }, { agent: 'triage' });
  const narrowed = async (query: string) => {
    const { now, pipelines } = await server.services.statistics.insights(
      StatisticsParams.parse(Object.fromEntries(new URLSearchParams(query))),
      new AbortController().signal,
    );
    expect({ pipelines }).toEqual((await get(`/stats/pipelines?${query}`)).body);
    return [now.runs_total, now.tokens.input, now.accuracy.total, pipelines.map((one) => one.pipeline_name).join()];
  };
  expect(await narrowed('')).toEqual([3, 40, 2, 'checkout,deploy']);
  expect(await narrowed('pipeline=deploy')).toEqual([1, 10, 0, 'deploy']);
  expect(await narrowed('team=shop')).toEqual([2, 30, 1, 'checkout,deploy']);
  expect(await narrowed('agent=judge')).toEqual([2, 20, 1, 'checkout,deploy']);
  expect(await narrowed('agent=judge&model=large')).toEqual([1, 10, 1, 'checkout']);
  expect(await narrowed('model=small&team=payments')).toEqual([1, 10, 1, 'checkout']);
  expect(await stats('?agent=triage&time_range=all')).toMatchObject({ runs_total: 3, duration_seconds: { p95: 4 } });
  const ofStep = (await get('/steps/look/stats?pipeline=deploy')).body;
  expect(ofStep).toMatchObject({ runs_total: 1, pipelines: [{ pipeline_name: 'deploy' }] });
  expect((await get('/steps/look/models?team=shop&agent=judge')).body).toMatchObject({
    breakdown: [{ runs_total: 1 }],
  });
  expect(await get('/pipelines/checkout/stats?pipeline=deploy')).toMatchObject({ status: 400 });
});

test.each(['time_range=1h', 'time_range=', 'stage=staging', 'stage=', 'timerange=7d', 'stage=all&stage=testing'])(
  '%s is refused',
  async (query) => {
    for (const url of ['/pipelines/checkout/stats', '/stats/pipelines'])
      expect(await get(`${url}?${query}`)).toMatchObject({ status: 400, body: { detail: { type: 'validation' } } });
  },
);

test('GET /teams: what each team used in this month, with its budget', async () => {
  await addRun(1, { team: 'payments' }, { cost: 2.5, cost_source: 'manual' });
  await addRun(2, { team: 'shop' });
  await addRun(3, {});
  await addRun(4, { team: 'shop', stage: 'testing' });
  await addRun(5, { team: 'shop', triggered_at: Date.parse('2026-10-31T23:59:59Z') });
  const used = { runs: 1, input_tokens: 10, output_tokens: 5 };
  const none = { cost: null, unpriced_steps: 1, budget: null, budget_used_ratio: null };
  expect((await get('/teams')).body).toEqual({
    month: '2026-11',
    currency: 'USD',
    teams: [
      { team: 'payments', ...used, cost: 2.5, unpriced_steps: 0, budget: 10, budget_used_ratio: 0.25 },
      { team: 'shop', ...used, ...none },
      { team: null, ...used, ...none },
    ],
  });
});
