import { expect, test } from 'vitest';
import { receiversNamed, refusalOf } from './receivers.ts';

test.each([
  ['slack', { channel: '#bank' }, 'slack:#bank'],
  ['slack', { chat_id: 'U0BANK' }, 'slack:U0BANK'],
  ['telegram', { chat_id: -100 }, 'telegram:-100'],
  ['email', { to: 'a@shop.example, b@bank.example' }, 'email:b@bank.example'],
  ['email', { to: ['a@shop.example', 'a@shop.example.bank'] }, 'email:a@shop.example.bank'],
  ['slack', { channel: '#shop-alerts' }, null],
  ['slack', {}, null],
  ['slack', { bot_token: 'xoxb-own', channel: '#bank' }, null],
  // The service's, which a variable of security.pipeline_env gave the author.
  ['slack', { bot_token: 'xoxb', channel: '#bank' }, 'slack:#bank'],
  ['telegram', { bot_token: 'xoxb', chat_id: '-100' }, 'telegram:-100'],
  ['telegram', { chat_id: '-7' }, null],
  ['email', { to: 'a@shop.example' }, null],
  ['webhook', { url: 'https://bank.example' }, null],
] as const)('a message over %s to %j, with some rooms and addresses listed: %s', (channel, own, refused) => {
  const allowed = ['slack:#shop-*', 'telegram:-7', 'email:*@shop.example'];
  const named = receiversNamed(channel, own, { bot_token: 'xoxb' });
  expect(refusalOf(named, null)).toBeNull();
  expect(refusalOf(named, allowed)).toBe(
    refused && `its namespace may not write to ${refused} (receivers of tenancy.namespaces)`,
  );
});

test('what stands on both sides of a star does not overlap', () => {
  expect(refusalOf(['slack:aba'], ['slack:ab*ba'])).not.toBeNull();
  expect(refusalOf(['slack:abba'], ['slack:ab*ba'])).toBeNull();
});
