import { expect, test } from 'vitest';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { pipelineOf } from './fixtures/run.ts';
import type { Notification } from './message.ts';
import { prepare } from './prepare.ts';

const settings = NotificationsBlock.parse({ slack: { bot_token: 'xoxb', channel: '#all' } });
const definition = pipelineOf({
  notifications: { fail: [{ channel: 'slack', config: { channel: '#bank' } }, { channel: 'slack' }] },
});
const notification = (index: number) =>
  ({
    runId: 'r',
    pipeline: definition.name,
    message: { event: 'fail' },
    source: { from: 'definition', step: null, index },
  }) as unknown as Notification;

test.each([
  ['the room that its definition names', 0, ['slack:#bank'], true],
  ['a room that its namespace may not write to', 0, ['slack:#shop'], false],
  ['a room, where nothing is restricted', 0, null, true],
  ['the room of the service, which it does not name', 1, [], true],
])('a message goes to %s', async (_, index, allowed, may) => {
  const deps = {
    settings,
    regressions: [],
    env: { valueOf: () => undefined },
    definitionOf: async () => definition,
    receiversOf: async () => allowed,
  };
  const prepared = await prepare(deps, notification(index), 'slack');
  expect(prepared).toMatchObject(
    may
      ? { ok: true, target: `slack xoxb ${index === 0 ? '#bank' : '#all'}` }
      : { ok: false, message: 'its namespace may not write to slack:#bank (receivers of tenancy.namespaces)' },
  );
});
