import { expect, test } from 'vitest';
import { HOSTILE } from '../fixtures/runs.ts';
import { cronWords } from './cron-words.ts';

test.each([
  ['0 6 * * 1-5', 'At 06:00, Monday through Friday'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['0 9 1 * *', 'At 09:00, on day 1 of the month'],
])('%s reads: %s', (cron, words) => expect(cronWords(cron)).toBe(words));

test.each(['', HOSTILE])('what has no words is left as it is written: %s', (cron) =>
  expect(cronWords(cron)).toBe(cron),
);
