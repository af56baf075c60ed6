import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeChat, fakeReceiver } from '../fixtures/chats.ts';
import { AT, MESSAGE, RUN_ID } from '../fixtures/run.ts';
import { type Sending, sendVia } from '../fixtures/send.ts';

let receiver: FakeChat;
beforeEach(async () => {
  receiver = await fakeReceiver();
});
afterEach(() => receiver.close());

const send = (settings: object = {}, more: Sending = {}) =>
  sendVia('webhook', { operator: { url: `${receiver.url}/in`, ...settings }, ...more });
const SECONDS = AT / 1000;

test('the delivery is JSON with a stable id, its time, and what is known of the run', async () => {
  expect(await send({ headers: { authorization: 'Bearer abc' } })).toEqual({ ok: true });
  const [request] = receiver.received;
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'webhook-id': 'run-1/escalate/0',
    'webhook-timestamp': String(SECONDS),
    authorization: 'Bearer abc',
  });
  expect(request?.headers['webhook-signature']).toBeUndefined();
  expect(request?.body).toEqual({
    id: 'run-1/escalate/0',
    event: 'escalate',
    at: '2026-11-21T12:00:00.000Z',
    text: 'Escalated: checkout\nCheckout is slow',
    run: {
      id: RUN_ID,
      pipeline: 'checkout',
      status: 'escalated',
      team: 'payments',
      stage: 'production',
      severity: 'critical',
      summary: 'Checkout is slow',
      step: 'look',
      reason: 'Not passed: trust 0.41 against 0.75.',
      trust: 0.41,
      threshold: 0.75,
      url: MESSAGE.url,
    },
  });
});

test.each([
  ['a plain secret', Buffer.from('a plain secret')],
  [`whsec_${Buffer.from('bytes').toString('base64')}`, Buffer.from('bytes')],
])('with a secret the receiver can check id, time and body (%s)', async (secret, key) => {
  await send({ secret });
  const { headers, raw } = receiver.received[0]!;
  const expected = createHmac('sha256', key).update(`run-1/escalate/0.${SECONDS}.${raw}`).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${expected}`);
});

test('the operator’s headers and secret never go to an address that an author wrote', async () => {
  const settings = { headers: { authorization: 'Bearer of-the-operator' }, secret: 'operator-secret' };
  const own = { url: `${receiver.url}/mine` };
  expect(await send(settings, { own, egressAllow: ['127.0.0.0/8'] })).toEqual({ ok: true });
  const { headers } = receiver.received[0]!;
  expect(headers.authorization).toBeUndefined();
  expect(headers['webhook-signature']).toBeUndefined();
});

test('an author’s own secret signs', async () => {
  await send({}, { own: { url: `${receiver.url}/mine`, secret: 'own' }, egressAllow: ['127.0.0.1'] });
  expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,/);
});

test.each([
  'http://127.0.0.1:1/x',
  'http://localhost:1/x',
  'http://[::1]:1/x',
  'http://169.254.169.254/latest',
  'http://10.0.0.1/',
  'http://[::ffff:127.0.0.1]:1/x',
  'http://2130706433:1/',
  'http://0x7f.1:1/',
])('an author’s %s is refused before it is dialled', async (url) => {
  expect(await send({}, { own: { url } })).toMatchObject({
    ok: false,
    retryable: false,
    message: expect.stringContaining('security.egress_allow'),
  });
});

test.each(['file:///etc/passwd', 'gopher://x/', 'http://user:pass@example.com/', 'not a url'])(
  'an author’s %s is no address',
  async (url) => {
    expect(await send({}, { own: { url } })).toMatchObject({ ok: false, retryable: false });
  },
);

test('a redirect is not followed', async () => {
  receiver.answer({ status: 302, headers: { location: 'http://169.254.169.254/' } });
  expect(await send()).toMatchObject({
    ok: false,
    message: 'answered 302; redirects are not followed',
    retryable: false,
  });
  expect(receiver.received).toHaveLength(1);
});

test('headers of the connection stay ours', async () => {
  await send({
    headers: { 'Content-Type': 'text/plain', Host: 'evil.example', 'Webhook-Id': 'forged', 'Content-Length': '1' },
  });
  const { headers } = receiver.received[0]!;
  expect(headers['webhook-id']).toBe('run-1/escalate/0');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers.host).toMatch(/^127\.0\.0\.1/);
});

test('a header value with a line end is refused, and not shown', async () => {
  const outcome = await send({ headers: { 'x-token': 'abc\r\nx-evil: 1' } });
  expect(outcome).toMatchObject({ ok: false, retryable: false });
  expect(JSON.stringify(outcome)).not.toContain('evil');
});

test('Retry-After may also be a date', async () => {
  receiver.answer({ status: 503, headers: { 'retry-after': new Date(AT + 60_000).toUTCString() } });
  expect(await send()).toMatchObject({ ok: false, retryable: true, retryAfterMs: 60_000 });
});

test('nobody at home may be tried again', async () => {
  await receiver.close();
  expect(await send()).toMatchObject({ ok: false, retryable: true });
});
