import { expect, test } from 'vitest';
import { cronWords } from './cron-words.ts';

test.each([
  ['0 6 * * 1-5', 'Monday to Friday at 06:00'],
  ['30 22 * * *', 'Every day at 22:30'],
  ['0 6,18 * * *', 'Every day at 06:00 and 18:00'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['* * * * *', 'Every minute'],
  ['0 * * * *', 'Every hour'],
  ['15 * * * *', 'Every hour at minute 15'],
  ['0 */4 * * *', 'Every 4 hours'],
  ['*/15 8-18 * * MON-FRI', 'Every 15 minutes from 08:00 to 18:59, Monday to Friday'],
  ['0 9 1 * *', 'Day 1 of the month at 09:00'],
  ['0 9 * * 0,6', 'Sunday and Saturday at 09:00'],
  ['0 9 * * 7', 'Sunday at 09:00'],
  ['0 0 1 JAN *', 'Day 1 of the month in January at 00:00'],
  ['0 0 13 * 5', 'Friday or day 13 of the month at 00:00'],
])('%s reads: %s', (cron, words) => expect(cronWords(cron)).toBe(words));

test.each(['0 6 L * *', '5-10 6 * * *', '0 0 * * 1#2', '1,2,3 4,5,6 * * *', '@daily', ''])(
  '%s is left as it is written',
  (cron) => expect(cronWords(cron)).toBeNull(),
);
