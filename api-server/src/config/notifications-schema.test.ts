import { expect, test } from 'vitest';
import { emptySecrets, NotificationsBlock } from './notifications-schema.ts';

const parse = (value: unknown) => NotificationsBlock.parse(value);
const problem = (value: unknown) => {
  const parsed = NotificationsBlock.safeParse(value);
  const issue = parsed.error?.issues[0];
  return issue && [issue.path.join('.'), issue.code];
};

test('nothing has to be said', () => {
  expect(parse(undefined)).toEqual({ routes: {}, give_up_after_seconds: 86_400 });
  expect(parse(null)).toEqual({ routes: {}, give_up_after_seconds: 86_400 });
  expect(parse({ slack: null })).toEqual({ slack: {}, routes: {}, give_up_after_seconds: 86_400 });
});

test('a chat id may be written as a number', () => {
  expect(parse({ telegram: { bot_token: 't', chat_id: -100123 } }).telegram).toEqual({
    bot_token: 't',
    chat_id: '-100123',
  });
  expect(parse({ slack: { bot_token: 't', chat_id: 'C1' } }).slack).toEqual({ bot_token: 't', chat_id: 'C1' });
});

test('a route has a channel and, by the channel’s own rules, a config', () => {
  const routes = { payments: { channel: 'slack', config: { channel: '#pay' } }, default: { channel: 'log' } };
  expect(parse({ routes }).routes).toEqual({ payments: routes.payments, default: { channel: 'log', config: {} } });
});

test.each([
  [{ pager: {} }, '', 'unrecognized_keys'],
  [{ slack: { token: 'x' } }, 'slack', 'unrecognized_keys'],
  [{ slack: { api_url: 'ftp://x' } }, 'slack.api_url', 'custom'],
  [{ webhook: { headers: { 'a b': 'c' } } }, 'webhook.headers.a b', 'invalid_key'],
  [{ email: { tls: 'maybe' } }, 'email.tls', 'invalid_value'],
  [{ email: { port: 70_000 } }, 'email.port', 'too_big'],
  [{ routes: { a: { channel: 'pager' } } }, 'routes.a.channel', 'invalid_union'],
  [{ routes: { a: { channel: 'slack', config: { to: 'x' } } } }, 'routes.a.config', 'unrecognized_keys'],
  [{ routes: { a: { channel: 'slack', template: 'x' } } }, 'routes.a', 'unrecognized_keys'],
])('%o is refused at %s', (value, path, code) => {
  expect(problem(value)).toEqual([path, code]);
});

test('secrets that are there and empty are named', () => {
  const block = parse({
    slack: { bot_token: '' },
    telegram: { chat_id: '1' },
    webhook: { url: '', secret: '' },
    email: { password: '' },
    routes: { payments: { channel: 'msteams', config: { url: '' } } },
  });
  expect(emptySecrets(block)).toEqual([
    'notifications.slack.bot_token',
    'notifications.webhook.url',
    'notifications.webhook.secret',
    'notifications.email.password',
    'notifications.routes.payments.config.url',
  ]);
});
