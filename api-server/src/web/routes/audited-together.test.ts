import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Receiving, receivingOn, alert, groupOf } from '../../service/deliveries/fixtures/receiving.ts';
import { receive } from '../../service/deliveries/receive.ts';
import { insertNotifications } from '../../store/tables/outbox.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW, runIdOf } from '../fixtures/store.ts';

const PIPELINES = { checkout: 'stage: production\ntrigger: {match: {namespace: shop}, dedup: {enabled: false}}' };
const RUN = runIdOf(1);
const PINNED = runIdOf(2);

let server: TestServer;
let service: Receiving;
let set: string;

beforeEach(async () => {
  server = await startTestServer({
    deps: {
      receive: (delivery, alongside) => receive(service, delivery, alongside),
      intake: (requests, alongside) => service.intake(requests, alongside),
      flushDeliveries: () => service.log.flush(),
      definitions: () => service.definitions(),
    },
  });
  const { database, addRun, addStep } = server.store;
  service = receivingOn({ database, pipelines: PIPELINES, now: () => NOW });
  for (const [n, id] of [RUN, PINNED].entries()) {
    await addRun(n + 1, { context: CONTEXT });
    await addStep(id, 'look', { deterministic_passed: 0 });
  }
  await post('/webhook?source=alert_router', groupOf(alert('checkout')), 'webhook');
  await database.write((tx) => insertNotifications(tx, [MESSAGE]));
  set = (await post('/golden-sets', { name: 'triage', step_name: 'look' })).json().id;
  await post(`/golden-sets/${set}/members`, { run_id: PINNED, step_name: 'look' });
});
afterEach(() => server.close());

const CONTEXT = JSON.stringify({
  source: 'generic',
  pipeline: 'checkout',
  severity: null,
  labels: {},
  annotations: {},
  summary: null,
  fingerprint: null,
  metadata: {},
  receivedAt: NOW,
});
const MESSAGE = {
  id: `${RUN}/escalate/0`,
  runId: RUN,
  pipeline: 'checkout',
  stage: 'production',
  event: 'escalate',
  channel: 'log',
  insteadOf: null,
  source: { from: 'operator' },
  message: { title: 'escalated', lines: [], buttons: [] },
  createdAt: NOW,
} as unknown as Parameters<typeof insertNotifications>[1][number];

const call = (
  method: 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
  role: 'operator' | 'webhook' = 'operator',
) => server.app.inject({ method, url, headers: as(role), ...(payload && { payload }) });
const post = (url: string, payload?: object, role?: 'operator' | 'webhook') => call('POST', url, payload, role);
const first = async (url: string, list: string) =>
  (await server.app.inject({ url, headers: as('viewer') })).json()[list][0].id as string;
const member = async () => `/golden-sets/${set}/members/${await first(`/golden-sets/${set}`, 'rows')}`;
const exported = async () =>
  (await server.app.inject({ url: `/golden-sets/${set}/export`, headers: as('viewer') })).body;

/** All that these actions change, beside the audit log. */
const stored = async () => {
  const tables = ['runs', 'notifications', 'golden_sets', 'golden_members', 'deliveries'] as const;
  const { db } = server.store.database;
  return JSON.stringify(await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute())));
};

type Answer = PromiseLike<{ statusCode: number; body: string }>;
const ACTIONS: [string, () => Answer][] = [
  ['the start of a run by hand', () => post('/pipelines/checkout/run', {})],
  ['a rerun', () => post(`/runs/${RUN}/rerun`, {})],
  ['a redelivery', async () => post(`/deliveries/${await first('/deliveries', 'deliveries')}/redeliver`)],
  ['a message that is sent again', () => post(`/notifications/${encodeURIComponent(MESSAGE.id)}/resend`)],
  ['a message that is dismissed', () => post(`/notifications/${encodeURIComponent(MESSAGE.id)}/dismiss`)],
  ['a new golden set', () => post('/golden-sets', { name: 'second', step_name: 'look' })],
  ['a pin', () => post(`/golden-sets/${set}/members`, { run_id: RUN, step_name: 'look' })],
  ['a note', async () => call('PATCH', await member(), { note: 'other' })],
  ['an unpin', async () => call('DELETE', await member())],
  ['an archived set', () => post(`/golden-sets/${set}/archive`)],
  ['an import', async () => post('/golden-sets/import', { jsonl: (await exported()).replaceAll('triage', 'third') })],
];

test.each(ACTIONS)('what an operator does and its row of the audit log are stored together: %s', async (_what, act) => {
  const before = await stored();
  await server.store.database.write((tx) => sql`alter table audit rename to audit_away`.execute(tx.db));
  expect((await act()).statusCode).toBeGreaterThanOrEqual(500);
  expect(await stored()).toBe(before);
  await server.store.database.write((tx) => sql`alter table audit_away rename to audit`.execute(tx.db));
  const done = await act();
  expect(done.statusCode).toBeLessThan(300);
  expect(await stored()).not.toBe(before);
});
