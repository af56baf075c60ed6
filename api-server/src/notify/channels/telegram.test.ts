import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeChat, fakeTelegram, TELEGRAM_TOKEN, telegramMigrated, telegramRateLimit } from '../fixtures/chats.ts';
import { type Sending, sendVia } from '../fixtures/send.ts';

let chat: FakeChat;
beforeEach(async () => {
  chat = await fakeTelegram();
});
afterEach(() => chat.close());

const send = (more: Sending = {}, settings: object = {}) =>
  sendVia('telegram', {
    operator: { bot_token: TELEGRAM_TOKEN, chat_id: '-1001234567890', api_url: `${chat.url}/`, ...settings },
    ...more,
  });

test('a message is sent as HTML without a preview, and its place is kept', async () => {
  expect(await send()).toEqual({ ok: true, receipt: { chat_id: '-1001234567890', message_id: '42' } });
  expect(chat.received[0]).toMatchObject({ method: 'POST', path: `/bot${TELEGRAM_TOKEN}/sendMessage` });
  expect(chat.received[0]?.body).toEqual({
    chat_id: '-1001234567890',
    link_preview_options: { is_disabled: true },
    text: '<b>Escalated: checkout</b>\nCheckout is slow\n<a href="https://signalbox.example/ui/runs/00000000-0000-4000-8000-000000000001">Open the run</a>',
    parse_mode: 'HTML',
  });
});

test('a message of an author’s own bot has no place that the service would change', async () => {
  const receipt = { chat_id: '-1001234567890', message_id: '42' };
  expect(await send({ own: { bot_token: TELEGRAM_TOKEN } })).toEqual({ ok: true, receipt });
  const operator = { bot_token: 'another' };
  expect(await send({ own: { bot_token: TELEGRAM_TOKEN } }, operator)).toEqual({ ok: true });
  expect(await send({ own: { bot_token: TELEGRAM_TOKEN }, byOperator: true }, operator)).toEqual({ ok: true, receipt });
});

test('a value is text, whatever tags it holds', async () => {
  const outcome = await send({
    message: { text: [{ kind: 'value', text: '<script>alert("1")</script> & <b>' }], link: null },
  });
  expect(outcome).toMatchObject({ ok: true });
  expect(chat.received[0]?.body['text']).toBe('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &lt;b&gt;');
});

test('an author’s markup that Telegram cannot read goes out as plain text', async () => {
  const text = [
    { kind: 'author' as const, text: 'latency <p95> ' },
    { kind: 'value' as const, text: '3 & more' },
  ];
  expect(await send({ message: { text, link: null } })).toMatchObject({ ok: true });
  expect(chat.received.map(({ body }) => [body['parse_mode'], body['text']])).toEqual([
    ['HTML', 'latency <p95> 3 &amp; more'],
    [undefined, 'latency <p95> 3 & more'],
  ]);
});

test('a long text is cut to what Telegram takes', async () => {
  expect(await send({ message: { text: [{ kind: 'value', text: '<'.repeat(20_000) }] } })).toMatchObject({ ok: true });
});

test('buttons become an inline keyboard', async () => {
  await send({ message: { buttons: [{ label: 'Approve', value: 'approve:7', style: 'primary' }] } });
  expect(chat.received[0]?.body['reply_markup']).toEqual({
    inline_keyboard: [[{ text: 'Approve', callback_data: 'approve:7' }]],
  });
});

test('a rate limit is waited out for as long as Telegram says', async () => {
  chat.answer(telegramRateLimit(35));
  expect(await send()).toEqual({
    ok: false,
    message: 'answered 429: Too Many Requests: retry after 35',
    retryable: true,
    limited: true,
    retryAfterMs: 35_000,
  });
});

test('a group that moved is named with its new id', async () => {
  chat.answer(telegramMigrated(-1009999));
  expect(await send()).toEqual({ ok: false, message: 'the group is now chat_id -1009999', retryable: false });
});

test('an unknown chat and a wrong token are refusals that show no token', async () => {
  expect(await send({ own: { chat_id: 5 } })).toMatchObject({
    ok: false,
    message: 'answered 400: Bad Request: chat not found',
    retryable: false,
  });
  const wrong = await send({ own: { bot_token: '1:wrong-secret' } });
  expect(wrong).toMatchObject({ ok: false, message: 'answered 401: Unauthorized', retryable: false });
});

test.each(['1:a/../../deleteWebhook?', '1:a b', '1:a#'])('a token cannot change the address: %s', async (bot_token) => {
  expect(await send({ own: { bot_token } })).toEqual({ ok: false, message: 'bot_token has signs that no token has' });
  expect(chat.received).toEqual([]);
});
