import { expect, test } from 'vitest';
import { NotificationsBlock } from '../config/notifications-schema.ts';
import { createChats } from './chats.ts';
import type { Outcome } from './close-messages.ts';

/** Chats whose outcomes a test tells; none where they are not listened to. */
function chats(settings: object) {
  const listeners: ((outcome: Outcome) => void)[] = [];
  const never = () => Promise.reject(new Error('not expected'));
  const made = createChats({
    settings: NotificationsBlock.parse(settings),
    http: never,
    decide: never,
    attend: never,
    messages: { ofApproval: never, ofRun: never },
    roomOf: never,
    onOutcome: (listener) => void listeners.push(listener),
    delay: () => Promise.resolve(),
    warn: () => undefined,
  });
  return { made, listeners };
}

test('without a bot that sends them no messages are looked for once a question is closed', () => {
  const at = { routes: { shop: { channel: 'log' } }, webhook: { url: 'https://example.com' } };
  expect(chats(at).listeners).toEqual([]);
  expect(chats({ ...at, slack: { channel: '#all' } }).listeners).toEqual([]);
  const routed = { shop: { channel: 'telegram', config: { bot_token: '1:x', chat_id: 5 } } };
  for (const bot of [{ slack: { bot_token: 'xoxb' } }, { routes: routed }])
    expect(chats(bot).listeners).toHaveLength(1);
});

test('of the questions of one run that are closed together the messages are read one after the other', async () => {
  const { made, listeners } = chats({ slack: { bot_token: 'xoxb' } });
  const reading = new Map<string, number>();
  let [most, looks] = [0, 0];
  const outcome = (runId: string, fails: boolean): Outcome => ({
    runId,
    sentence: 'Approved',
    buttons: [],
    messages: async () => {
      const now = (reading.get(runId) ?? 0) + 1;
      reading.set(runId, now);
      most = Math.max(most, now);
      looks += 1;
      await new Promise(setImmediate);
      reading.set(runId, now - 1);
      if (fails) throw new Error('the database is away');
      return [];
    },
  });
  for (let at = 0; at < 40; at++) listeners[0]?.(outcome(`run ${at % 2}`, at === 1));
  await expect.poll(() => looks).toBe(40);
  await made.stop();
  expect([most, [...reading.values()]]).toEqual([1, [0, 0]]);
});
