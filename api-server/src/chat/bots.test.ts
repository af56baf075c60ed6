import { expect, test } from 'vitest';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { hearsButtons, roomOf } from './bots.ts';

const hears = hearsButtons(
  NotificationsBlock.parse({
    slack: { bot_token: 'b', app_token: 'a', channel: '#alerts' },
    telegram: { bot_token: 'b', chat_id: 5 },
    routes: { shop: { channel: 'slack', config: { channel: 'C1' } } },
  }),
);

test.each([
  ['slack', {}, true],
  ['slack', { channel: 'C1' }, true],
  ['slack', { chat_id: '#alerts' }, true],
  ['slack', { channel: '#else' }, false],
  ['slack', { channel: '${ROOM}' }, false],
  ['slack', { bot_token: 'own' }, false],
  ['telegram', {}, true],
  ['telegram', { chat_id: 5 }, true],
  ['telegram', { chat_id: 6 }, false],
  ['email', {}, false],
])('the buttons of a message to %s with %j are heard: %s', (channel, config, expected) => {
  expect(hears(channel, config)).toBe(expected);
});

test('without Socket Mode no button of Slack is heard', () => {
  const silent = hearsButtons(NotificationsBlock.parse({ slack: { bot_token: 'b', channel: '#alerts' } }));
  expect(silent('slack', {})).toBe(false);
});

test.each([
  ['slack', {}, '#alerts'],
  ['slack', { channel: 'C1', chat_id: 'C2' }, 'C1'],
  ['telegram', { channel: 'C1' }, '5'],
  ['telegram', { chat_id: -6 }, '-6'],
  ['email', {}, null],
])('a message to %s with %j is addressed to %s', (channel, config, expected) => {
  const block = { slack: { bot_token: 'b', channel: '#alerts' }, telegram: { bot_token: 'b', chat_id: 5 } };
  expect(roomOf(NotificationsBlock.parse(block), channel, config)).toBe(expected);
});
