import { expect, test } from 'vitest';
import { sendVia } from '../fixtures/send.ts';

const listen = () => {
  const lines: [string, Record<string, unknown>, string][] = [];
  const at = (level: string) => (fields: object, msg: string) =>
    void lines.push([level, fields as Record<string, unknown>, msg]);
  return { lines, log: { info: at('info'), warn: at('warn') } };
};

test('a message is one line of the service’s log', async () => {
  const { lines, log } = listen();
  expect(await sendVia('log', { log })).toEqual({ ok: true });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject([
    'info',
    { event: 'escalate', pipeline: 'checkout', text: 'Escalated: checkout\nCheckout is slow' },
    'notification',
  ]);
  expect(lines[0]?.[1]).not.toHaveProperty('instead_of');
});

test('the author chooses the level, and a testing message names the channel it was meant for', async () => {
  const { lines, log } = listen();
  await sendVia('log', { log, own: { level: 'warn' }, notification: { insteadOf: 'slack' } });
  expect(lines[0]).toMatchObject(['warn', { instead_of: 'slack' }, 'notification']);
  expect(await sendVia('log', { log, own: { level: 'debug' } })).toEqual({
    ok: false,
    message: 'config.level is not valid',
  });
});
