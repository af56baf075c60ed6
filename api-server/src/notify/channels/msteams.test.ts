import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeChat, fakeTeams, teamsHiddenFault } from '../fixtures/chats.ts';
import { type Sending, sendVia } from '../fixtures/send.ts';

let chat: FakeChat;
beforeEach(async () => {
  chat = await fakeTeams();
});
afterEach(() => chat.close());

const send = (more: Sending = {}) =>
  sendVia('msteams', { operator: { url: `${chat.url}/workflows/abc?sig=secret` }, ...more });
const card = (at = 0) =>
  (chat.received[at]!.body as { attachments: { content: Record<string, unknown> }[] }).attachments[0]!.content;

test('a message is an adaptive card whose button opens the run', async () => {
  expect(await send()).toEqual({ ok: true });
  expect(chat.received[0]).toMatchObject({ method: 'POST', path: '/workflows/abc?sig=secret' });
  expect(card()).toMatchObject({
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      {
        type: 'RichTextBlock',
        inlines: [{ type: 'TextRun', text: 'Escalated: checkout', weight: 'Bolder', color: 'Warning' }],
      },
      { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'Checkout is slow' }] },
    ],
    actions: [
      { type: 'Action.OpenUrl', url: 'https://signalbox.example/ui/runs/00000000-0000-4000-8000-000000000001' },
    ],
  });
});

test('a value stands in a text run, which knows no links and no markup', async () => {
  const hostile = '[Sign in](https://evil.example) **x** <at>all</at> "},{"type":"Image"';
  await send({ message: { text: [{ kind: 'value', text: hostile }], url: null } });
  expect(card()).toMatchObject({
    body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: hostile }] }],
    actions: [],
  });
});

test('a card never grows beyond what Teams takes', async () => {
  expect(await send({ message: { text: [{ kind: 'value', text: '漢\n'.repeat(20_000) }] } })).toEqual({ ok: true });
  expect(await send({ message: { text: [{ kind: 'value', text: '漢'.repeat(20_000) }] } })).toEqual({ ok: true });
});

test('the older webhook’s 200 with a refusal inside is a refusal', async () => {
  chat.answer(teamsHiddenFault(429));
  expect(await send()).toMatchObject({ ok: false, message: 'answered 429', retryable: true });
  chat.answer(teamsHiddenFault(413));
  expect(await send()).toMatchObject({ ok: false, message: 'answered 413', retryable: false });
  chat.answer({ status: 200, body: '1' });
  expect(await send()).toEqual({ ok: true });
});

test.each([
  [429, true],
  [502, true],
  [404, false],
  [400, false],
])('%i may be tried again: %s', async (status, retryable) => {
  chat.answer({ status, headers: { 'retry-after': '7' }, body: 'no' });
  expect(await send()).toMatchObject({ ok: false, message: `answered ${status}`, retryable, retryAfterMs: 7_000 });
});

test('an author’s address keeps to the egress rules, the operator’s does not need to', async () => {
  const own = { url: `${chat.url}/hook` };
  expect(await send({ own })).toMatchObject({
    ok: false,
    retryable: false,
    message: expect.stringContaining('security.egress_allow'),
  });
  expect(await send({ own, egressAllow: ['127.0.0.1'] })).toEqual({ ok: true });
  expect(await send({ own, byOperator: true })).toEqual({ ok: true });
  expect(chat.received).toHaveLength(2);
});

test('without an address nothing is sent', async () => {
  expect(await sendVia('msteams', { operator: { url: '' } })).toEqual({ ok: false, message: 'url is not set' });
});
