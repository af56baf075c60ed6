import { afterEach, beforeEach, expect, test } from 'vitest';
import { notificationOf } from '../../notify/fixtures/run.ts';
import { insertNotifications } from '../../store/tables/outbox.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

let server: TestServer;
let looks: number;
let run: string;

beforeEach(async () => {
  looks = 0;
  server = await startTestServer({
    deps: { sendSoon: () => void (looks += 1), warnings: () => ['1 message could not be delivered to slack'] },
  });
  run = await server.store.addRun(1);
  await store('sent', 'failed', 'pending', 'forwarded');
});
afterEach(() => server.close());

const idOf = (status: string) => `${run}/escalate/${status}`;
const store = (...statuses: string[]) =>
  server.store.database.write(async (tx) => {
    for (const status of statuses) {
      const one = notificationOf({ id: idOf(status), runId: run, channel: 'slack', createdAt: NOW - 1000 });
      await insertNotifications(tx, [one]);
      const ended = status === 'pending' ? null : NOW;
      const values = { status, attempts: 3, error: 'slack: answered 503', ended_at: ended, tries: TRIES };
      await tx.db.updateTable('notifications').set(values).where('id', '=', one.id).execute();
    }
  });
const get = async (url: string) => (await server.app.inject({ url, headers: as('viewer') })).json();
const post = (id: string, action = 'resend') =>
  server.app.inject({
    method: 'POST',
    url: `/notifications/${encodeURIComponent(id)}/${action}`,
    headers: as('operator'),
  });

const TRIES = JSON.stringify([
  {
    at: Date.parse('2026-11-21T12:00:00.000Z'),
    error: 'slack: answered 503',
    request: { method: 'POST', url: 'https://a.example/***', status: 503 },
  },
]);

test('a run shows its messages and whether they arrived; the list finds those that did not', async () => {
  const line = {
    id: idOf('failed'),
    run_id: run,
    pipeline_name: 'checkout',
    event: 'escalate',
    channel: 'slack',
    status: 'failed',
    attempts: 3,
    error: 'slack: answered 503',
    created_at: '2026-11-21T11:59:59.000Z',
    ended_at: '2026-11-21T12:00:00.000Z',
    next_try_at: null,
    tries: [
      {
        at: '2026-11-21T12:00:00.000Z',
        error: 'slack: answered 503',
        request: { method: 'POST', url: 'https://a.example/***', status: 503 },
      },
    ],
  };
  expect((await get(`/runs/${run}`)).notifications).toHaveLength(4);
  expect((await get(`/runs/${run}`)).notifications).toContainEqual(line);
  expect(await get('/notifications?status=failed')).toEqual({ notifications: [line] });
  expect((await get(`/notifications?run=${run}&limit=2`)).notifications).toHaveLength(2);
  expect((await get('/notifications?status=pending')).notifications[0].next_try_at).not.toBeNull();
});

test('a message that did not arrive is sent again at once, and audited', async () => {
  const answer = await post(idOf('failed'));
  expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'pending', id: idOf('failed') }]);
  expect(looks).toBe(1);
  const [one] = (await get('/notifications?status=pending')).notifications.filter(({ id }: { id: string }) =>
    id.endsWith('failed'),
  );
  expect(one).toMatchObject({ attempts: 0, next_try_at: '2026-11-21T12:00:00.000Z', ended_at: null });
  expect((await get('/audit?action=resend')).rows).toMatchObject([
    { target_type: 'notification', target: idOf('failed'), outcome: 'pending', actor: 'the-operator' },
  ]);
});

test('a message that is dismissed is no longer tried and not counted', async () => {
  const metric = async () => (await server.app.inject('/metrics')).body.match(/service_notifications_undelivered\{.*/g);
  expect(await metric()).toEqual([
    'service_notifications_undelivered{channel="slack",state="failed"} 1',
    'service_notifications_undelivered{channel="slack",state="waiting"} 1',
  ]);
  expect((await post(idOf('failed'), 'dismiss')).json().status).toBe('dismissed');
  expect((await post(idOf('pending'), 'dismiss')).statusCode).toBe(200);
  expect(await metric()).toBeNull();
});

test('what was sent or dismissed is 409 and stays so, what is unknown 404', async () => {
  for (const action of ['resend', 'dismiss']) expect((await post(idOf('sent'), action)).statusCode).toBe(409);
  await post(idOf('failed'), 'dismiss');
  expect((await post(idOf('failed'))).statusCode).toBe(409);
  expect((await post('nothing/escalate/0')).statusCode).toBe(404);
  const { notifications } = await get('/notifications');
  const statuses = notifications.map(({ id, status }: { id: string; status: string }) => [id, status]);
  expect(statuses).toEqual(
    expect.arrayContaining([
      [idOf('sent'), 'sent'],
      [idOf('failed'), 'dismissed'],
    ]),
  );
  expect(looks).toBe(1);
});

test('the health of the service names undelivered messages and stays ok', async () => {
  const response = await server.app.inject('/health');
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject({ status: 'ok', warnings: ['1 message could not be delivered to slack'] });
});
