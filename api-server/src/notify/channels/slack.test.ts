import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeChat, fakeSlack, SLACK_TOKEN, slackRateLimit } from '../fixtures/chats.ts';
import { type Sending, sendVia } from '../fixtures/send.ts';

let chat: FakeChat;
beforeEach(async () => {
  chat = await fakeSlack();
});
afterEach(() => chat.close());

const send = (more: Sending = {}, settings: object = {}) =>
  sendVia('slack', {
    operator: { bot_token: SLACK_TOKEN, channel: '#alerts', api_url: chat.url, ...settings },
    ...more,
  });

test('a message is posted as mrkdwn with the link under it, and its place is kept', async () => {
  expect(await send()).toEqual({ ok: true, receipt: { channel: 'C0123456789', ts: '1503435956.000247' } });
  const [request] = chat.received;
  expect(request).toMatchObject({
    method: 'POST',
    path: '/chat.postMessage',
    headers: { authorization: `Bearer ${SLACK_TOKEN}`, 'content-type': 'application/json; charset=utf-8' },
  });
  expect(request?.body).toEqual({
    channel: '#alerts',
    text: '*Escalated: checkout*\nCheckout is slow\n<https://signalbox.example/ui/runs/00000000-0000-4000-8000-000000000001|Open the run>',
    unfurl_links: false,
    unfurl_media: false,
  });
});

test('a message of an author’s own bot has no place that the service would change', async () => {
  const receipt = { channel: 'C0123456789', ts: '1503435956.000247' };
  expect(await send({ own: { bot_token: SLACK_TOKEN } })).toEqual({ ok: true, receipt });
  const operator = { bot_token: 'another' };
  expect(await send({ own: { bot_token: SLACK_TOKEN } }, operator)).toEqual({ ok: true });
  expect(await send({ own: { bot_token: SLACK_TOKEN }, byOperator: true }, operator)).toEqual({ ok: true, receipt });
});

test('what an alert said calls nobody and links nowhere; what the author wrote stands', async () => {
  const text = [
    { kind: 'author' as const, text: '<!here> *look* ' },
    { kind: 'value' as const, text: '<!channel> <@U1> <https://evil.example|bank> & \u0000\uD800' },
  ];
  await send({ message: { text, link: null } });
  expect(chat.received[0]?.body['text']).toBe(
    '<!here> *look* &lt;!channel&gt; &lt;@U1&gt; &lt;https://evil.example|bank&gt; &amp; \uFFFD',
  );
});

test('a long text is cut between escapes, and its link stays', async () => {
  await send({ message: { text: [{ kind: 'value', text: '&'.repeat(5_000) }] } });
  const text = String(chat.received[0]?.body['text']);
  expect(text.length).toBeLessThanOrEqual(3_000);
  expect(text).toMatch(/^(&amp;)+…\n<https:\/\/signalbox\.example.*\|Open the run>$/);
});

test('buttons make blocks, with a plain line for the phone', async () => {
  const buttons = [
    { label: 'Approve', value: 'approve:7', style: 'primary' as const },
    { label: 'Details', value: 'details:7', style: 'plain' as const },
  ];
  expect(await send({ message: { buttons, text: [{ kind: 'value', text: 'x'.repeat(9_000) }] } })).toMatchObject({
    ok: true,
  });
  const { blocks, text } = chat.received[0]!.body as { blocks: { type: string; elements?: unknown[] }[]; text: string };
  expect(text).toBe('x'.repeat(300));
  expect(blocks.map(({ type }) => type)).toEqual(['section', 'actions']);
  // Slack would make mentions of words like @here.
  expect(blocks[0]).toMatchObject({ text: { verbatim: true } });
  expect(blocks[1]?.elements).toEqual([
    {
      type: 'button',
      action_id: 'approve:7',
      text: { type: 'plain_text', text: 'Approve' },
      value: 'approve:7',
      style: 'primary',
    },
    { type: 'button', action_id: 'details:7', text: { type: 'plain_text', text: 'Details' }, value: 'details:7' },
  ]);
});

test('a message’s own channel wins, and chat_id is the same word', async () => {
  await send({ own: { channel: 'C0123456789' } });
  await send({ own: { chat_id: 'C0123456789' } });
  expect(chat.received.map(({ body }) => body['channel'])).toEqual(['C0123456789', 'C0123456789']);
});

test('a rate limit is waited out for as long as Slack says', async () => {
  chat.answer(slackRateLimit(30));
  expect(await send()).toEqual({
    ok: false,
    message: 'answered 429',
    retryable: true,
    limited: true,
    retryAfterMs: 30_000,
  });
});

test.each([
  ['channel_not_found', false],
  ['invalid_auth', false],
  ['is_archived', false],
  ['internal_error', true],
  ['ratelimited', true],
])('ok: false with %s may be tried again: %s', async (error, retryable) => {
  chat.answer({ status: 200, body: { ok: false, error } });
  expect(await send()).toMatchObject({ ok: false, message: error, retryable });
});

test('a wrong token is named by Slack’s word and never shown', async () => {
  const outcome = await send({ own: { bot_token: 'xoxb-other-secret' } });
  expect(outcome).toMatchObject({ ok: false, message: 'invalid_auth', retryable: false });
});

test.each([500, 502, 503])('a broken server (%i) is asked again', async (status) => {
  chat.answer({ status, body: '<html>oops</html>' });
  expect(await send()).toMatchObject({ ok: false, retryable: true });
});

test('an answer that is no answer of Slack is a refusal', async () => {
  chat.answer({ status: 200, body: '<html>a proxy</html>' });
  expect(await send()).toMatchObject({ ok: false, message: 'no answer of Slack', retryable: false });
});

test('a pipeline’s author cannot name the server that gets the token', async () => {
  const outcome = await send({ own: { api_url: chat.url } });
  expect(outcome).toEqual({ ok: false, message: 'config.api_url is not a key of this channel' });
  expect(chat.received).toEqual([]);
});

test.each([
  [{ bot_token: '' }, 'bot_token is not set'],
  [{ channel: undefined }, 'channel is not set'],
])('without %o nothing is sent', async (settings, message) => {
  expect(await send({}, settings)).toEqual({ ok: false, message });
  expect(chat.received).toEqual([]);
});
