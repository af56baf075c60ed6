import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Receiving, receivingOn, alert, groupOf } from '../../service/deliveries/fixtures/receiving.ts';
import { receive } from '../../service/deliveries/receive.ts';
import { keepInvalid } from '../../service/deliveries/admit.ts';
import type { Tables } from '../../store/db/schema.ts';
import { MOST_LOOKED_THROUGH, pruneDeliveries } from '../../store/tables/deliveries.ts';
import { createCapacity } from '../../runs/run/capacity.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

const PIPELINES = {
  shop: 'stage: production\ntrigger: {match: {namespace: shop}, dedup: {enabled: true, window_seconds: 60}}',
  trial: 'trigger: {match: {namespace: trial}}',
  paused: 'stage: production\nsuspend: true\ntrigger: {match: {namespace: paused}}',
  picky: 'stage: production\ntrigger: {match: {namespace: lab, severity: {in: [page]}}}',
};

let server: TestServer;
let service: Receiving;
let clock: number;
let writes: number;
const capacity = createCapacity(1_000);

beforeEach(async () => {
  clock = NOW;
  writes = 0;
  server = await startTestServer({
    server: { maxBodyBytes: 128 * 1024 },
    deps: {
      receive: (delivery) => receive(service, delivery),
      keepInvalid: (delivery, refusal) => keepInvalid(service, delivery, refusal),
      flushDeliveries: () => service.log.flush(),
    },
  });
  const { database } = server.store;
  const counted = { ...database, db: database.db, write: (job: never) => ((writes += 1), database.write(job)) };
  service = receivingOn({ database: counted as never, pipelines: PIPELINES, now: () => clock, intake: { capacity } });
});
afterEach(() => server.close());

const send = (body: unknown, { query = 'source=alert_router', headers = {} } = {}) =>
  server.app.inject({
    method: 'POST',
    url: `/webhook?${query}`,
    payload: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...as('webhook'), 'content-type': 'application/json', ...headers },
  });
const get = async (url: string) => (await server.app.inject({ url, headers: as('viewer') })).json();
const post = (url: string, role: 'operator' | 'viewer' = 'operator') =>
  server.app.inject({ method: 'POST', url, headers: as(role) });
const newest = async () => get(`/deliveries/${(await get('/deliveries')).deliveries[0].id}`);
const change = (query: (db: Kysely<Tables>) => { execute(): Promise<unknown> }) =>
  server.store.database.write((tx) => query(tx.db).execute());
const inLab = (namespace: string) => groupOf(alert('checkout', { labels: { namespace, severity: 'warning' } }));

const manyDeliveries = (count: number, receivedAt: number) =>
  sql`WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < ${sql.lit(count)})
    INSERT INTO deliveries (received_at, source, outcome, status_code, labels, allow_testing, raw_truncated)
    SELECT ${sql.lit(receivedAt)}, 'generic', 'accepted', 202, '{}', 0, 0 FROM nth`;

test('an accepted delivery is listed with its run, its sender and what it was about', async () => {
  const { run_id: runId } = (await send(groupOf(alert('checkout')))).json();
  const { deliveries, next_cursor: next } = await get('/deliveries');
  expect(next).toBeNull();
  expect(deliveries).toEqual([
    {
      id: expect.any(Number),
      received_at: '2026-11-21T12:00:00.000Z',
      source: 'alert_router',
      outcome: 'accepted',
      status_code: 202,
      pipeline: 'shop',
      run_id: runId,
      summary: 'checkout is down',
      severity: 'critical',
      labels: { alertname: 'Down', namespace: 'shop', service: 'checkout', severity: 'critical' },
      fingerprint: 'f-checkout:firing',
      detail: null,
      token_name: 'the-webhook',
      team: 'payments',
    },
  ]);
  expect(await newest()).toMatchObject({
    alerts: [{ fingerprint: 'f-checkout', status: 'firing', fate: 'run', run_id: runId, reason: null }],
    closest: [],
    raw: groupOf(alert('checkout')),
    raw_truncated: false,
  });
});

test('every alert of a group has a fate', async () => {
  const first = (await send(groupOf(alert('checkout')))).json().run_id;
  const second = (await send(groupOf(alert('checkout'), alert('payments'), alert('search')))).json().run_id;
  const fates = (detail: { alerts: { fingerprint: string; fate: string; run_id: string | null }[] }) =>
    detail.alerts.map(({ fingerprint, fate, run_id: run }) => [fingerprint, fate, run]);
  expect(fates(await newest())).toEqual([
    ['f-checkout', 'suppressed', first],
    ['f-payments', 'run', second],
    ['f-search', 'merged', second],
  ]);
  await send(groupOf(alert('checkout'), alert('search')));
  expect(fates(await newest())).toEqual([
    ['f-checkout', 'suppressed', first],
    ['f-search', 'suppressed', second],
  ]);
  const common = (
    await send(groupOf(alert('a'), alert('b')), { query: 'source=alert_router&strategy=common_labels' })
  ).json();
  expect(common.detail?.type).toBe('no_pipeline');
  expect(fates(await newest())).toEqual([
    ['f-a', 'no_pipeline', null],
    ['f-b', 'no_pipeline', null],
  ]);
});

test('with one run an alert each alert has its own', async () => {
  await send(groupOf(alert('checkout')));
  const lab = alert('lab', { labels: { namespace: 'lab' } });
  const twice = groupOf(
    alert('checkout'),
    alert('cart'),
    alert('cart'),
    lab,
    alert('x', { labels: { namespace: 'paused' } }),
  );
  const { runs } = (await send(twice, { query: 'source=alert_router&strategy=per_alert' })).json();
  const { alerts, run_id: first } = await newest();
  expect(alerts.map(({ fate }: { fate: string }) => fate)).toEqual([
    'suppressed',
    'run',
    'merged',
    'no_pipeline',
    'refused',
  ]);
  expect(first).toBe(runs[1].run_id);
  expect(alerts[4].reason).toContain('suspended');
});

test('a delivery that starts no run is kept with the reason and its body', async () => {
  const cases: [unknown, string, object][] = [
    [inLab('trial'), 'source=alert_router', { outcome: 'skipped_testing', status_code: 202, pipeline: 'trial' }],
    [inLab('paused'), 'source=alert_router', { outcome: 'suspended', status_code: 202, pipeline: 'paused' }],
    [inLab('nowhere'), 'source=alert_router', { outcome: 'no_pipeline', status_code: 422, pipeline: null }],
    [{ pipeline: 'gone' }, 'source=generic', { outcome: 'no_pipeline', status_code: 422, source: 'generic' }],
    [{ alerts: 'none' }, 'source=alert_router', { outcome: 'invalid', status_code: 400 }],
    [{ a: 1 }, 'source=strange', { outcome: 'invalid', status_code: 400, source: 'strange' }],
  ];
  for (const [body, query, row] of cases) {
    await send(body, { query });
    expect(await newest()).toMatchObject({ ...row, run_id: null, detail: expect.any(String), raw: body });
  }
  await send(groupOf(alert('checkout')));
  await send(groupOf(alert('checkout')));
  expect(await newest()).toMatchObject({ outcome: 'deduplicated', status_code: 202, raw: groupOf(alert('checkout')) });
});

test('a body that cannot be read is kept without it', async () => {
  await send('{"half":');
  expect(await newest()).toMatchObject({ outcome: 'invalid', status_code: 400, detail: 'the body is not valid JSON' });
  await send({ padding: 'x'.repeat(140_000) });
  expect(await newest()).toMatchObject({ outcome: 'invalid', status_code: 413, raw: null, raw_truncated: true });
  await send('a=1', { headers: { 'content-type': 'text/plain' } });
  expect(await newest()).toMatchObject({ outcome: 'invalid', status_code: 415 });
  await send('');
  expect((await get('/deliveries')).deliveries).toHaveLength(4);
});

test('what no token sent, a dry run and a start by hand are not deliveries', async () => {
  await send(groupOf(alert('checkout')), { headers: { authorization: 'Bearer wrong' } });
  await send('{', { headers: { authorization: 'Bearer wrong' } });
  await send(groupOf(alert('checkout')), { query: 'source=alert_router&dry_run=true' });
  await send({ no: 1 }, { query: 'source=alert_router&dry_run=true' });
  await post('/pipelines/shop/run');
  expect((await get('/deliveries')).deliveries).toEqual([]);
});

test('where nothing matches, the closest pipelines say which rule failed; so does a dry run', async () => {
  await send(inLab('lab'));
  const [first] = (await newest()).closest;
  expect(first).toEqual({ pipeline: 'picky', failed_rule: 'severity', expected: { in: ['page'] }, actual: 'warning' });
  const dry = await send(inLab('lab'), { query: 'source=alert_router&dry_run=true' });
  expect(dry.json().closest[0]).toEqual(first);
  expect(dry.json().reason).toBe('no pipeline matches this delivery; closest lists the rules that did not hold');
});

test.each([
  ['alert', 'alert_router', groupOf(alert('checkout'))],
  ['delivery', 'generic', { pipeline: 'shop', idempotency_key: 'once' }],
])('a repeat is told that a run covers this %s', async (what, source, body) => {
  const query = `source=${source}`;
  const first = await send(body, { query });
  const { run_id: id } = first.json();
  const reason = expect.stringContaining(`run ${id} covers this ${what}`);
  expect((await send(body, { query })).json()).toMatchObject({ status: 'deduplicated', reason });
  expect(await newest()).toMatchObject({ outcome: 'deduplicated', detail: reason });
});

test('the list is filtered and paged', async () => {
  await send(groupOf(alert('checkout')));
  await send({ pipeline: 'gone', summary: 'Nightly backup' }, { query: 'source=generic' });
  clock += 60_000;
  await send(inLab('trial'));
  const ids = async (query: string) =>
    (await get(`/deliveries?${query}`)).deliveries.map(({ outcome }: { outcome: string }) => outcome);
  expect(await ids('')).toEqual(['skipped_testing', 'no_pipeline', 'accepted']);
  expect(await ids('outcome=no_pipeline')).toEqual(['no_pipeline']);
  expect(await ids('source=generic')).toEqual(['no_pipeline']);
  expect(await ids('pipeline=shop')).toEqual(['accepted']);
  expect(await ids('q=BACKUP')).toEqual(['no_pipeline']);
  expect(await ids('since=2026-11-21T12:00:30Z')).toEqual(['skipped_testing']);
  expect(await ids('until=2026-11-21T12:00:30Z')).toEqual(['no_pipeline', 'accepted']);
  const page = await get('/deliveries?limit=2');
  expect(page.deliveries).toHaveLength(2);
  expect(await ids(`limit=2&cursor=${page.next_cursor}`)).toEqual(['accepted']);
});

test('a search looks through a bounded number of deliveries, says how far it came, and goes on from there', async () => {
  await send({ pipeline: 'gone', summary: 'Nightly backup' }, { query: 'source=generic' });
  expect(await newest()).toMatchObject({ summary: 'Nightly backup' });
  clock += 60_000;
  await server.store.database.write(({ db }) => manyDeliveries(MOST_LOOKED_THROUGH, clock).execute(db));
  const newer = await get('/deliveries?q=backup');
  expect(newer).toEqual({
    deliveries: [],
    next_cursor: expect.any(String),
    looked_back_to: '2026-11-21T12:01:00.000Z',
  });
  const older = await get(`/deliveries?q=backup&cursor=${newer.next_cursor}`);
  expect(older).toMatchObject({ deliveries: [{ summary: 'Nightly backup' }], next_cursor: null, looked_back_to: null });
  // An hour is more than replicas store out of order; what cannot be older than a range is not looked for.
  const range = await get('/deliveries?q=backup&since=2026-11-21T13:02:00Z');
  expect(range).toEqual({ deliveries: [], next_cursor: null, looked_back_to: null });
  const before = await get('/deliveries?q=backup&until=2026-11-21T11:00:00Z');
  expect(before).toEqual({ deliveries: [], next_cursor: null, looked_back_to: null });
  // Those without a run have an index, which needs no bound.
  expect(await get('/deliveries?outcome=no_pipeline')).toMatchObject({ deliveries: [{}], next_cursor: null });
});

test('an unknown id is 404, whatever it looks like', async () => {
  for (const id of ['1', '0', '-1', 'x', '1e3', '9'.repeat(30)])
    expect((await server.app.inject({ url: `/deliveries/${id}`, headers: as('viewer') })).statusCode).toBe(404);
});

test('a delivery is handled again with the team, the source and the query that it came with, and audited', async () => {
  await send(inLab('trial'), { query: 'source=alert_router&strategy=per_alert&allow_testing=true' });
  const accepted = await newest();
  clock += 120_000;
  await change((db) => db.updateTable('runs').set({ status: 'completed', completed_at: clock }));
  const answer = await post(`/deliveries/${accepted.id}/redeliver`);
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toMatchObject({ status: 'accepted', original_delivery_id: accepted.id, runs: [{}] });
  const again = await newest();
  expect(again).toMatchObject({ outcome: 'accepted', team: 'payments', token_name: 'the-operator', pipeline: 'trial' });
  expect(again.run_id).not.toBe(accepted.run_id);
  expect((await get('/audit?action=redeliver')).rows).toMatchObject([
    { actor: 'the-operator', target_type: 'delivery', target: String(accepted.id), outcome: 'accepted' },
  ]);
  await send(inLab('nowhere'));
  const refused = await post(`/deliveries/${(await newest()).id}/redeliver`);
  expect(refused.statusCode).toBe(422);
  expect(refused.json().detail.type).toBe('no_pipeline');
});

test('a body that was cut is shown as far as it goes and not handled again', async () => {
  await send({ ...inLab('nowhere'), note: 'é'.repeat(33_000), more: 'x'.repeat(40_000) });
  const kept = await newest();
  expect(kept).toMatchObject({ outcome: 'no_pipeline', raw_truncated: true });
  expect(kept.raw).toHaveLength(65_536);
  const answer = await post(`/deliveries/${kept.id}/redeliver`);
  expect(answer.statusCode).toBe(409);
  expect(answer.json().detail.type).toBe('conflict');
});

test('a delivery whose run was removed keeps its row and loses its body', async () => {
  await send(groupOf(alert('checkout')));
  await change((db) => db.deleteFrom('runs'));
  const kept = await newest();
  expect(kept).toMatchObject({ outcome: 'accepted', raw: null });
  expect((await post(`/deliveries/${kept.id}/redeliver`)).statusCode).toBe(409);
});

test('deliveries without a run cost no transaction of their own while others start runs', async () => {
  await send(inLab('nowhere'));
  await send({ no: 'alerts' });
  await send(inLab('paused'));
  expect(writes).toBe(0);
  await send(groupOf(alert('checkout')));
  expect(writes).toBe(1);
  const { deliveries } = await get('/deliveries');
  expect(deliveries.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
    'accepted',
    'invalid',
    'no_pipeline',
    'suspended',
  ]);
  expect(writes).toBe(1);
});

test('of one source and minute 600 without a run are kept, the rest is counted', async () => {
  for (let index = 0; index < 603; index += 1) await send({ no: index });
  await send({ a: 1 }, { query: 'source=generic' });
  for (let index = 0; index < 3; index += 1) await send({ a: 1 }, { query: `source=made-up-${index}` });
  expect(service.dropped).toEqual(Array.from({ length: 3 }, () => 'alert_router invalid'));
  await service.log.flush();
  const rows = () => server.store.database.db.selectFrom('deliveries').select('id').execute();
  expect(await rows()).toHaveLength(604);
  clock += 60_000;
  await send({ no: 1 });
  await send(groupOf(alert('checkout')));
  expect(await rows()).toHaveLength(606);
});

test('the row of a delivery is stored with its run or not at all', async () => {
  await send(inLab('nowhere'));
  const { database } = server.store;
  const { log } = service;
  const entry = log.open();
  const boom = () => Promise.reject(new Error('disk'));
  service = {
    ...service,
    intake: (_, alongside) => database.write(async (tx) => (await alongside?.(tx, []), boom())),
  };
  expect((await send(groupOf(alert('checkout')))).statusCode).toBe(500);
  entry.failed();
  expect((await get('/deliveries')).deliveries).toMatchObject([{ outcome: 'no_pipeline' }]);
});

test('deliveries are removed after their days', async () => {
  await send(groupOf(alert('checkout')));
  const { database } = server.store;
  expect(await pruneDeliveries(database, 7, clock + 7 * 86_400_000)).toBe(0);
  expect(await pruneDeliveries(database, 7, clock + 7 * 86_400_000 + 1)).toBe(1);
  expect((await get('/deliveries')).deliveries).toEqual([]);
});

test('refused deliveries are counted by outcome since a moment', async () => {
  await send(groupOf(alert('a', { labels: { namespace: 'elsewhere' } })));
  clock += 60_000;
  await send(groupOf(alert('b', { labels: { namespace: 'elsewhere' } })));
  await send('{}');
  await send(groupOf(alert('c', { labels: { namespace: 'shop' } })));
  await service.log.flush();
  const refused = (since: number) => server.services.keptDeliveries.refused(since);
  expect(await refused(NOW)).toEqual([
    { outcome: 'no_pipeline', count: 2, isMore: false },
    { outcome: 'invalid', count: 1, isMore: false },
  ]);
  expect(await refused(clock)).toMatchObject([{ outcome: 'no_pipeline', count: 1 }, { outcome: 'invalid' }]);
});
