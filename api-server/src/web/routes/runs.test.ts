import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { markRun } from '../../store/tables/feedback.ts';
import { newestRun } from '../../store/tables/search/index-runs.ts';
import { searchAll } from '../../store/tables/search/search-job.ts';
import { addCounter, NOW, runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const get = async (url: string) => (await server.app.inject({ url, headers: as('viewer') })).json();
const ids = async (query: string) =>
  (await get(`/runs?${query}`)).runs.map(({ id }: { id: string }) => Number(id.slice(-3)));

beforeAll(async () => {
  server = await startTestServer();
  const { store } = server;
  const labels = (values: object) => JSON.stringify({ labels: values });
  await store.addRun(1, {
    pipeline_name: 'disk',
    team: 'infra',
    stage: 'testing',
    context: labels({ 'k8s.io/x': 'a"b' }),
  });
  await store.addRun(2, { source: 'alert_router', fingerprint: 'f1', severity: 'critical', summary: '100% full_disk' });
  await store.addRun(3, {
    triggered_at: NOW + 60_000,
    completed_at: null,
    status: 'running',
    parent_run_id: runIdOf(2),
  });
  await store.addRun(4, {
    pipeline_name: 'disk',
    status: 'escalated',
    trust: null,
    raw: null,
    error_step: 'look',
    error_message: 'too low',
  });
  await store.addStep(runIdOf(3), 'look', {
    status: 'running',
    completed_at: null,
    agent: 'finder',
    model: 'm1',
    output: null,
  });
  await store.addStep(runIdOf(2), 'look/1', {});
});
afterAll(() => server.close());

test('runs come newest first with what a list shows', async () => {
  const page = await get('/runs');
  expect(page).toMatchObject({ limit: 50, offset: 0, total: 4, next_cursor: null });
  expect(page.runs.map(({ id }: { id: string }) => Number(id.slice(-3)))).toEqual([4, 3, 2, 1]);
  expect(page.runs[1]).toMatchObject({
    status: 'running',
    current_step: 'look',
    duration_seconds: null,
    completed_at: null,
  });
  expect(page.runs[2]).toMatchObject({
    id: runIdOf(2),
    pipeline_name: 'checkout',
    source: 'alert_router',
    status: 'completed',
    team: null,
    stage: 'production',
    triggered_at: '2026-11-21T12:00:00.000Z',
    completed_at: '2026-11-21T12:00:01.500Z',
    severity: 'critical',
    summary: '100% full_disk',
    trust: 0.8,
    threshold: 0.75,
    duration_seconds: 1.5,
    cost: null,
    input_tokens: 10,
    output_tokens: 5,
    current_step: null,
    waiting_on: null,
    feedback_outcome: null,
  });
});

test('a list says how a run was marked, and a status that does not exist is refused', async () => {
  const mark = { runId: runIdOf(1), outcome: 'partial' as const, notes: null, submittedAt: NOW, submittedBy: 'ada' };
  await server.store.database.write((tx) => markRun(tx, mark));
  expect((await get('/runs?pipeline=disk&stage=testing')).runs[0].feedback_outcome).toBe('partial');
  expect((await get(`/runs/${runIdOf(1)}`)).feedback_outcome).toBe('partial');
  for (const query of ['status=failed,never', 'status=', 'status=failed&status=never'])
    expect((await get(`/runs?${query}`)).detail.type).toBe('validation');
});

describe.each(['by their rows', 'by the search'])('filters %s', (way) => {
  beforeAll(async () => {
    const { database } = server.store;
    const upTo = await newestRun(database.db);
    if (way === 'by the search')
      await searchAll({ database, upTo, log: { info: () => undefined, warn: () => undefined } });
  });
  test.each<[string, number[]]>([
    ['status=escalated', [4]],
    ['status=escalated,running', [4, 3]],
    ['status=escalated&status=running', [4, 3]],
    ['pipeline=disk', [4, 1]],
    ['team=infra', [1]],
    ['teamless=false', [1]],
    ['teamless=true&status=completed', [2]],
    ['stage=testing', [1]],
    ['severity=critical', [2]],
    ['source=alert_router', [2]],
    ['fingerprint=f1', [2]],
    ['q=FULL_', [2]],
    ['q=100%25%20f', [2]],
    ['q=f_ll', []],
    ['q=check%25slow', [4, 3, 1]],
    ['q=heckout', []],
    ['q=%5C', []],
    ['q=disk', [4, 2, 1]],
    ['q=SHOP%20slo', [4, 3]],
    ['q=%22%20OR%20NEAR(*)%20AND%20NOT', []],
    [`q=${runIdOf(3)}`, [3]],
    ['label=service:shop', [4, 3, 2]],
    ['label=k8s.io/x:a%22b', [1]],
    ['label=service:shop&label=none:x', []],
    [`since=${new Date(NOW + 1).toISOString()}`, [3]],
    [`until=${new Date(NOW + 1).toISOString()}`, [4, 2, 1]],
    ['since=2026-11-22', []],
    ['agent=finder', [3]],
    ['model=m1', [3]],
    [`parent=${runIdOf(2)}`, [3]],
    ['pipeline=disk&status=completed', [1]],
    ['pipeline=%27%20OR%201=1', []],
  ])('%s', async (query, expected) => expect(await ids(query)).toEqual(expected));
});

test('pages by offset and by cursor show the same rows', async () => {
  expect(await ids('limit=2&offset=2')).toEqual([2, 1]);
  const first = await get('/runs?limit=3');
  const second = await get(`/runs?limit=3&cursor=${first.next_cursor}`);
  expect(second.runs.map(({ id }: { id: string }) => id)).toEqual([runIdOf(1)]);
  expect(second).toMatchObject({ total: 4, next_cursor: null });
});

test('a run shows its steps, its children and its context; the raw delivery only when asked for', async () => {
  const run = await get(`/runs/${runIdOf(2)}`);
  expect(run).toMatchObject({
    id: runIdOf(2),
    fingerprint: 'f1',
    feedback: null,
    error: null,
    totals: { input_tokens: 10, output_tokens: 5, cost: null, unpriced_steps: 1, duration_seconds: 1.5 },
    children: [{ id: runIdOf(3) }],
    steps: [
      {
        step_name: 'look/1',
        status: 'completed',
        deterministic_passed: true,
        output: { action: 'restart' },
        raw_response: { prompt: 'Look' },
        duration_seconds: 1,
      },
    ],
  });
  expect(run.context).toMatchObject({ labels: { service: 'shop' }, received_at: '2026-11-21T12:00:00.000Z' });
  expect(run.context).not.toHaveProperty('raw');
  expect(run.context).not.toHaveProperty('receivedAt');
  expect((await get(`/runs/${runIdOf(2)}?include=raw`)).context.raw).toEqual({ pipeline: 'checkout' });
  expect((await get(`/runs/${runIdOf(4)}?include=raw`)).context.raw).toBeNull();
  expect((await get(`/runs/${runIdOf(4)}`)).error).toEqual({ step: 'look', message: 'too low' });
  expect((await get(`/runs/${runIdOf(3)}`)).current_step).toBe('look');
});

test('the total of a long list is a lower bound', async () => {
  const { database } = server.store;
  const { count, ...values } = {
    count: 10_001,
    ...(await database.db.selectFrom('runs').selectAll().where('id', '=', runIdOf(1)).executeTakeFirstOrThrow()),
  };
  const { seq: _, ...row } = values;
  await database.write(async ({ db }) => {
    for (let at = 0; at < count; at += 500) {
      const rows = Array.from({ length: Math.min(500, count - at) }, (_none, n) => ({
        ...row,
        id: `bulk-${at + n}`,
        team: 'bulk',
      }));
      await db.insertInto('runs').values(rows).execute();
    }
  });
  expect(await get('/runs?team=bulk&limit=1')).toMatchObject({ total: 10_000, total_is_lower_bound: true });
  expect(await get('/runs?team=infra')).not.toHaveProperty('total_is_lower_bound');
  await database.write(async ({ db }) => void (await db.deleteFrom('runs').where('team', '=', 'bulk').execute()));
});

test('metrics come from the roll-ups', async () => {
  await addCounter(server.store, 'pipeline_runs_total', ['we"ird\\na\nme', 'completed'], 2);
  const { body } = await server.app.inject('/metrics');
  expect(body).toContain('service_pipeline_runs_total{pipeline="we\\"ird\\\\na\\nme",status="completed"} 2\n');
  expect(body).toContain('service_pipeline_runs_in_progress 1\n');
  expect(body).toContain('service_human_approvals_pending{team=""} 0\n');
  expect(body).toContain('process_cpu_seconds_total');
});

test('a run whose sub-run waits says so with its id, at any depth', async () => {
  const other = await startTestServer();
  const live = { status: 'running', completed_at: null };
  const { addRun } = other.store;
  await addRun(1, live);
  await addRun(2, { ...live, parent_run_id: runIdOf(1) });
  await addRun(3, { ...live, parent_run_id: runIdOf(2), waiting_on: 'human' });
  await addRun(4, { ...live, parent_run_id: runIdOf(2) });
  await addRun(5, { ...live });
  await addRun(6, { ...live, parent_run_id: runIdOf(5) });
  const ask = async (url: string) => (await other.app.inject({ url, headers: as('viewer') })).json();
  try {
    const { runs } = await ask('/runs');
    expect(runs.map((run: { waiting_on: string | null }) => run.waiting_on)).toEqual([
      null,
      null,
      null,
      'human',
      `run:${runIdOf(3)}`,
      `run:${runIdOf(2)}`,
    ]);
    expect(await ask(`/runs/${runIdOf(1)}`)).toMatchObject({
      waiting_on: `run:${runIdOf(2)}`,
      children: [{ waiting_on: `run:${runIdOf(3)}` }],
    });
    expect(await ask(`/runs/${runIdOf(5)}`)).toMatchObject({ waiting_on: null, children: [{ waiting_on: null }] });
  } finally {
    await other.close();
  }
});

test('a list says why a run did not complete, what its last agent concluded and proposes', async () => {
  const { store } = server;
  const text = 'x'.repeat(400);
  await store.addRun(70, { pipeline_name: 'results', status: 'failed', error_step: null, error_message: text });
  await store.addRun(71, { pipeline_name: 'results' });
  const run = runIdOf(71);
  await store.addStep(run, 'look', { step_index: 0, summary: 'first', output: '{"action":"wait"}' });
  const gate = { signals: [], trust: 0.8, threshold: 0.75, passed: true, action: 'pass', sentence: 'Passed.' };
  await store.addStep(run, 'decide', {
    step_index: 1,
    summary: text,
    output: '{"action":"restart","culprit":"java"}',
    trust_report: JSON.stringify(gate),
  });
  await store.addStep(run, 'report', { step_index: 2, summary: 'The report is written.', output: '{"pages":2}' });
  await store.addStep(run, 'ask', { step_index: 3, executor: 'human', summary: 'approved' });
  const { runs } = await get('/runs?pipeline=results');
  const cut = `${'x'.repeat(299)}…`;
  expect(runs).toMatchObject([
    {
      error: null,
      result: { step_name: 'decide', conclusion: cut, actions: [{ name: 'action', value: 'restart' }], trust: 0.8 },
    },
    { error: { step: null, message: cut }, result: null },
  ]);
  const detail = await get(`/runs/${runIdOf(70)}`);
  expect([detail.error, detail.result]).toEqual([{ step: null, message: text }, null]);
  expect((await get(`/runs/${run}`)).result).toEqual(runs[0].result);
});

test('outputs that the schema of the deciding step titles or requires stand beside the conclusion', async () => {
  const { store } = server;
  const look = {
    name: 'look',
    output_schema: { required: ['culprit'], properties: { verdict: { title: 'Action to take' } } },
  };
  const steps = [
    { name: 'both', parallel: { steps: [look] } },
    { name: 'report', output_schema: { required: ['pages'] } },
  ];
  const body = JSON.stringify({ name: 'declares', steps });
  const row = { hash: 'declares', kind: 'Pipeline', name: 'declares', body, stored_at: 1 };
  await store.database.write((tx) => tx.db.insertInto('definitions').values(row).execute());
  const run = await store.addRun(72, { pipeline_name: 'declares', definition_hash: 'declares' });
  const output = '{"note":"x","verdict":"roll back","culprit":"java"}';
  await store.addStep(run, 'look', { kind: 'branch', step_index: 0, summary: 'The deploy broke it.', output });
  await store.addStep(run, 'report', { step_index: 1, summary: 'Written.', output: '{"pages":2}' });
  const { runs } = await get('/runs?pipeline=declares');
  const actions = [
    { name: 'verdict', value: 'roll back' },
    { name: 'culprit', value: 'java' },
  ];
  expect(runs[0].result).toMatchObject({ step_name: 'look', actions });
  expect((await get(`/runs/${run}`)).result).toMatchObject({ step_name: 'look', actions });
});

test('batches of replays are runs of the list, and are left out or listed alone when asked; a source proves nothing', async () => {
  await server.store.addReplay(961, { stage: 'testing' });
  await server.store.addRun(962, { source: 'replay' });
  expect(await ids('limit=2')).toEqual([962, 961]);
  expect(await ids('replay=true')).toEqual([961]);
  expect((await ids('replay=false&limit=200')).includes(961)).toBe(false);
  expect(await ids('replay=false&limit=1')).toEqual([962]);
  expect((await server.app.inject({ url: '/runs?replay=yes', headers: as('viewer') })).statusCode).toBe(400);
});
