import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeSmtp, type FakeSmtp } from '../fixtures/smtp.ts';
import { type Sending, sendVia } from '../fixtures/send.ts';

let smtp: FakeSmtp;
beforeEach(async () => {
  smtp = await fakeSmtp();
});
afterEach(() => smtp.close());

const send = (settings: object = {}, more: Sending = {}) =>
  sendVia('email', {
    operator: {
      host: '127.0.0.1',
      port: smtp.port,
      tls: 'none',
      from: 'Signalbox <signalbox@example.com>',
      to: ['ops@example.com'],
      ...settings,
    },
    ...more,
  });
const decoded = () =>
  (smtp.mails[0]?.data ?? '')
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

test('a mail says what happened in its subject and is the same mail at every try', async () => {
  expect(await send()).toEqual({ ok: true, receipt: { message_id: '<run-1/escalate/0@signalbox>' } });
  const [mail] = smtp.mails;
  expect(mail).toMatchObject({ from: 'signalbox@example.com', to: ['ops@example.com'] });
  expect(decoded()).toContain('Message-ID: <run-1/escalate/0@signalbox>');
  expect(decoded()).toContain('Auto-Submitted: auto-generated');
  expect(decoded()).toMatch(/Escalated: checkout\r\nCheckout is slow\r\nhttps:\/\/signalbox\.example\/ui\/runs/);
  expect(mail?.data).toMatch(/Subject: =\?UTF-8\?Q\?Escalated/);
});

test('what an alert said adds no header and no recipient', async () => {
  const summary = 'x\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<evil@example.com>';
  expect(await send({}, { message: { summary, text: [{ kind: 'value', text: summary }] } })).toMatchObject({
    ok: true,
  });
  expect(smtp.mails).toHaveLength(1);
  expect(smtp.mails[0]?.to).toEqual(['ops@example.com']);
  const [head] = (smtp.mails[0]?.data ?? '').split('\r\n\r\n');
  expect(head).not.toMatch(/^Bcc/m);
});

test('an author may say to whom, and nothing of the server or the sender', async () => {
  await send({}, { own: { to: 'a@example.com, b@example.com' } });
  expect(smtp.mails[0]?.to).toEqual(['a@example.com', 'b@example.com']);
  for (const key of ['host', 'port', 'from', 'user', 'password', 'tls']) {
    expect(await send({}, { own: { [key]: 'x' } })).toEqual({
      ok: false,
      message: `config.${key} is not a key of this channel`,
    });
  }
});

test('an address cannot carry a command', async () => {
  const to = ['a@example.com>\r\nRCPT TO:<evil@example.com'];
  expect(await send({}, { own: { to } })).toEqual({ ok: false, message: 'config.to.0 is not valid' });
  expect(smtp.commands).toEqual([]);
});

test('the operator’s login is used', async () => {
  expect(await send({ user: 'bot', password: 'p4ssw0rd' })).toMatchObject({ ok: true });
  expect(smtp.commands).toContain(`AUTH PLAIN ${Buffer.from('\0bot\0p4ssw0rd').toString('base64')}`);
});

test('without STARTTLS no login leaves this machine', async () => {
  const outcome = await send({ tls: 'starttls', user: 'bot', password: 'p4ssw0rd' });
  expect(outcome).toMatchObject({ ok: false });
  expect(smtp.commands.join('\n')).not.toMatch(/AUTH|MAIL/);
});

test.each([
  ['RCPT', '550 5.1.1 no such user', false],
  ['RCPT', '451 4.7.1 greylisted, try again', true],
  ['MAIL', '421 4.3.2 busy', true],
  ['AUTH', '535 5.7.8 bad credentials', false],
  ['DATA', '554 5.7.1 spam', false],
])('%s answered %s may be tried again: %s', async (verb, reply, retryable) => {
  smtp.answer(verb, reply);
  const outcome = await send({ user: 'bot', password: 'p4ssw0rd' });
  expect(outcome).toMatchObject({ ok: false, retryable });
  expect(JSON.stringify(outcome)).not.toContain('p4ssw0rd');
});

test('nobody at home may be tried again', async () => {
  await smtp.close();
  expect(await send()).toMatchObject({ ok: false, retryable: true });
});

test('a try ends with its time although the server holds the line', async () => {
  const time = new AbortController();
  smtp.answer('MAIL', null);
  const sending = send({}, { signal: time.signal });
  await expect.poll(() => smtp.commands.some((command) => command.startsWith('MAIL'))).toBe(true);
  time.abort();
  expect(await sending).toEqual({ ok: false, retryable: true, message: 'EABORT: Message sending aborted' });
  await expect.poll(() => smtp.connections()).toBe(0);
});

test.each([
  [{ host: undefined }, 'host is not set'],
  [{ from: undefined }, 'from is not set'],
  [{ to: [] }, 'to is not set'],
])('without %o nothing is sent', async (settings, message) => {
  expect(await send(settings)).toEqual({ ok: false, message });
});
