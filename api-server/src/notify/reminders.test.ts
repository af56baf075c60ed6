import { expect, test } from 'vitest';
import { AT, notificationOf, RUN_ID } from './fixtures/run.ts';
import { nextReminder } from './reminders.ts';

const reminder = (id: string, more: object = {}) => {
  const one = notificationOf({ id, ...more });
  return { ...one, message: { ...one.message, repeatMs: 60_000 } };
};

test('each reminder brings the next, under an id of its own', () => {
  expect(nextReminder(reminder(`${RUN_ID}/remind/9/1`), AT)).toMatchObject({
    id: `${RUN_ID}/remind/10/1`,
    createdAt: AT + 60_000,
  });
});

test('other messages, and one that the fallback took over, bring none', () => {
  expect(nextReminder(notificationOf({ id: 'a/escalate/0' }), AT)).toBeNull();
  expect(nextReminder(reminder('a/remind/1/0/fallback/5', { source: { from: 'fallback' } }), AT)).toBeNull();
});
