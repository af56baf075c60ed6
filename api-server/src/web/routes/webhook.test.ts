import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isStarted, type Receipt, type Verdict } from '../../triggers/model.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

const NAMED = { source: 'generic', pipeline: 'checkout', severity: 'critical', summary: 'Down' };
let answer: Receipt;
let server: TestServer;

beforeEach(async () => {
  const deliveries: TestServer['deliveries'] = [];
  server = await startTestServer({
    deps: {
      receive: async (delivery, alongside) => {
        deliveries.push(delivery);
        const { database } = server.store;
        if (answer.kind === 'verdict' && isStarted(answer.verdict)) {
          const { verdict: started } = answer;
          await database.write(async (tx) => alongside?.(tx, started));
        }
        return answer;
      },
    },
  });
  server.deliveries = deliveries;
});
afterEach(() => server.close());

const verdict = (one: Verdict): Receipt => ({ kind: 'verdict', verdict: one });
const post = (url = '/webhook?source=generic', headers = {}) =>
  server.app.inject({
    method: 'POST',
    url,
    payload: { pipeline: 'checkout' },
    headers: { ...as('webhook'), ...headers },
  });

describe('what becomes of a delivery is told in its answer', () => {
  test.each<[Verdict, number, object]>([
    [{ status: 'accepted', runId: 'r', ...NAMED }, 202, { status: 'accepted', run_id: 'r', ...NAMED }],
    [
      { status: 'queued', runId: 'r', position: 2, ...NAMED },
      202,
      { status: 'queued', run_id: 'r', position: 2, ...NAMED },
    ],
    [
      { status: 'deduplicated', runId: 'r', reason: 'why', ...NAMED },
      202,
      { status: 'deduplicated', run_id: 'r', reason: 'why', ...NAMED },
    ],
    [
      { status: 'skipped_testing', pipeline: 'p', reason: 'why' },
      202,
      { status: 'skipped_testing', pipeline: 'p', reason: 'why' },
    ],
    [{ status: 'suspended', pipeline: 'p', reason: 'why' }, 202, { status: 'suspended', pipeline: 'p', reason: 'why' }],
    [{ status: 'no_pipeline', message: 'none' }, 422, { detail: { type: 'no_pipeline', message: 'none' } }],
    [{ status: 'unavailable', message: 'later' }, 503, { detail: { type: 'unavailable', message: 'later' } }],
  ])('%o', async (one, status, body) => {
    answer = verdict(one);
    const response = await post();
    expect(response.statusCode).toBe(status);
    expect(response.json()).toEqual(body);
  });

  test('at capacity: 429 with the time to wait and the load', async () => {
    answer = verdict({
      status: 'at_capacity',
      message: 'all 10 slots are taken',
      activeRuns: 10,
      maxConcurrentRuns: 10,
      retryAfterSeconds: 7,
    });
    const response = await post();
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBe('7');
    expect(response.json()).toEqual({
      detail: { type: 'at_capacity', message: 'all 10 slots are taken' },
      active_runs: 10,
      max_concurrent_runs: 10,
    });
  });

  test('several: the best verdict speaks, all are listed', async () => {
    const duplicate: Verdict = { status: 'deduplicated', runId: 'a', reason: 'why', ...NAMED };
    answer = { kind: 'verdicts', verdicts: [duplicate, { status: 'accepted', runId: 'b', ...NAMED }] };
    const response = await post('/webhook?source=alert_router&strategy=per_alert');
    expect(response.statusCode).toBe(202);
    expect(response.json()).toMatchObject({
      status: 'accepted',
      run_id: 'b',
      runs: [{ status: 'deduplicated' }, { status: 'accepted' }],
    });
  });

  test('a dry run', async () => {
    const context = { ...NAMED, labels: {}, annotations: {}, fingerprint: null, metadata: {}, receivedAt: NOW };
    const preview = {
      status: 'dry_run',
      pipeline: 'checkout',
      stage: 'testing',
      fingerprint: null,
      would: 'accepted',
      reason: null,
      dedup: { duplicate: false, runId: null },
      context,
    } as const;
    const shown = {
      would: 'accepted',
      dedup: { duplicate: false, run_id: null },
      context: { received_at: '2026-11-21T12:00:00.000Z' },
    };
    answer = { kind: 'previews', previews: [preview], leftOut: 0 };
    const response = await post('/webhook?source=generic&dry_run=true');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject(shown);
    expect(server.deliveries[0]).toMatchObject({ dryRun: true });
    answer = { kind: 'previews', previews: [preview], leftOut: 2 };
    const several = await post('/webhook?source=generic&dry_run=true');
    expect(several.json()).toMatchObject({ status: 'dry_run', runs: [shown], left_out: 2 });
  });

  test('a preview shows what would be asked first, to an operator, and counts as no delivery', async () => {
    answer = { kind: 'previews', previews: [], leftOut: 0 };
    const preview = (role: 'operator' | 'webhook') =>
      server.app.inject({
        method: 'POST',
        url: '/triggers/preview?source=alert_router&strategy=per_alert&allow_testing=true&more=x',
        payload: { alerts: [] },
        headers: as(role),
      });
    expect((await preview('operator')).statusCode).toBe(200);
    expect(server.deliveries).toEqual([
      {
        source: 'alert_router',
        body: { alerts: [] },
        strategy: 'per_alert',
        allowTesting: true,
        dryRun: true,
        withPrompt: true,
        team: null,
      },
    ]);
    expect((await preview('webhook')).statusCode).toBe(403);
    const { body } = await server.app.inject('/metrics');
    expect(body).not.toContain('service_webhook_deliveries_total{');
  });

  test('refusals', async () => {
    answer = { kind: 'invalid', message: 'unknown source', errors: [{ loc: ['query', 'source'], msg: 'unknown' }] };
    expect((await post()).json()).toEqual({
      detail: { type: 'validation', message: 'unknown source', errors: [{ loc: ['query', 'source'], msg: 'unknown' }] },
    });
    answer = { kind: 'unknown_pipeline', message: 'no' };
    expect((await post()).statusCode).toBe(404);
  });
});

test('source, strategy and switches come from the query, the source else from the header; the rest is ignored', async () => {
  answer = verdict({ status: 'suspended', pipeline: 'p', reason: '' });
  await post('/webhook?source=alert_router&strategy=per_alert&allow_testing=true&color=red', {
    'x-pipeline-source': 'generic',
  });
  await post('/webhook?allow_testing=1', { 'x-pipeline-source': 'generic' });
  await post('/webhook?source=a&source=b');
  expect(
    server.deliveries.map(({ source, strategy, allowTesting, team }) => ({ source, strategy, allowTesting, team })),
  ).toEqual([
    { source: 'alert_router', strategy: 'per_alert', allowTesting: true, team: 'payments' },
    { source: 'generic', strategy: null, allowTesting: false, team: 'payments' },
    { source: null, strategy: null, allowTesting: false, team: 'payments' },
  ]);
});

test('a manual run is a generic delivery whose pipeline the path forces, without a team', async () => {
  answer = verdict({ status: 'accepted', runId: 'r', ...NAMED });
  const response = await server.app.inject({ method: 'POST', url: '/pipelines/checkout/run', headers: as('operator') });
  expect(response.statusCode).toBe(202);
  expect(server.deliveries).toEqual([
    {
      source: 'generic',
      body: {},
      strategy: null,
      allowTesting: true,
      dryRun: false,
      team: null,
      forcedPipeline: 'checkout',
      startedBy: 'the-operator',
    },
  ]);
});

test('the dry run of a manual run starts nothing and leaves no row in the audit log; the body may be of any source', async () => {
  answer = { kind: 'previews', previews: [], leftOut: 0 };
  const url = '/pipelines/checkout/run?dry_run=true&source=alert_router';
  const response = await server.app.inject({ method: 'POST', url, headers: as('operator'), payload: { alerts: [] } });
  expect(response.statusCode).toBe(200);
  expect(server.deliveries).toEqual([
    {
      source: 'alert_router',
      body: { alerts: [] },
      strategy: null,
      allowTesting: true,
      dryRun: true,
      withPrompt: true,
      team: null,
      forcedPipeline: 'checkout',
    },
  ]);
  expect((await server.app.inject({ url: '/audit', headers: as('viewer') })).json()).toMatchObject({ rows: [] });
});

test('a manual run is in the audit log under who started it, one that was refused is not', async () => {
  const run = () =>
    server.app.inject({ method: 'POST', url: '/pipelines/checkout/run', headers: as('operator'), payload: {} });
  answer = verdict({ status: 'deduplicated', runId: 'q', reason: 'why', ...NAMED });
  await run();
  answer = verdict({ status: 'queued', runId: 'r', position: 1, ...NAMED });
  await run();
  const { rows } = (await server.app.inject({ url: '/audit', headers: as('viewer') })).json<{ rows: object[] }>();
  expect(rows).toHaveLength(1);
  expect(rows).toMatchObject([
    {
      actor: 'the-operator',
      action: 'run',
      target_type: 'pipeline',
      target: 'checkout',
      run_id: 'r',
      outcome: 'queued',
    },
  ]);
});

test('deliveries are counted by known source and outcome', async () => {
  answer = verdict({ status: 'accepted', runId: 'r', ...NAMED });
  await post();
  await post('/webhook?source=whatever');
  const { body } = await server.app.inject('/metrics');
  expect(body).toContain('service_webhook_deliveries_total{source="generic",outcome="accepted"} 1\n');
  expect(body).toContain('service_webhook_deliveries_total{source="unknown",outcome="accepted"} 1\n');
});
