import { expect, test } from 'vitest';
import { age, count, duration, exactTime, money, score, secondsBetween, shorten } from './format.ts';

test.each([
  [null, '–'],
  [0, '0 ms'],
  [0.0042, '4 ms'],
  [0.9999, '1.0 s'],
  [59.94, '59.9 s'],
  [59.99, '1 m 00 s'],
  [185, '3 m 05 s'],
  [8045, '2 h 14 m'],
  [273_600, '3 d 4 h'],
])('a duration of %s seconds reads %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test.each([
  [-60, 'now'],
  [4, 'now'],
  [42, '42 s'],
  [3599, '59 m'],
  [86_399, '23 h'],
  [86_400 * 13, '13 d'],
  [86_400 * 21, '3 w'],
])('an event %s seconds ago is %s old', (seconds, text) => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  expect(age(new Date(now - seconds * 1000).toISOString(), now)).toBe(text);
});

test.each([
  [0.749, 0.75, '0.749'],
  [0.7499999, 0.75, '< 0.75'],
  [0.75, 0.75, '0.75'],
  [0.826, 0.75, '0.83'],
  [null, 0.75, '–'],
])('a score of %s against %s reads %s, so that a miss never looks like a pass', (value, threshold, text) => {
  expect(score(value, threshold)).toBe(text);
});

test('money keeps enough digits to tell a little from nothing', () => {
  expect([money(0, 'USD'), money(0.0003, 'USD'), money(1.2, 'EUR'), money(1_234_567.8, 'CHF')]).toEqual([
    '$0.00',
    '$0.0003',
    '€1.20',
    '1\u202f234\u202f567.80 CHF',
  ]);
});

test('a clock that ran backwards gives no negative duration', () => {
  expect(secondsBetween('2026-11-21T12:00:00Z', '2026-11-21T11:00:00Z')).toBe(0);
});

test('texts are cut between characters, times and counts stay readable', () => {
  expect(shorten('🚦🚦🚦🚦', 3)).toBe('🚦🚦…');
  expect(count(12_480)).toBe('12\u202f480');
  expect(exactTime('2026-11-21T14:03:22.123Z')).toBe('2026-11-21 14:03:22 UTC');
});

test('the script of the pages counts on in the words of the server', async () => {
  const script = (await import(new URL('../assets/js/clock.js', import.meta.url).href)) as {
    duration(seconds: number): string;
    age(seconds: number): string;
  };
  const now = Date.parse('2026-11-21T12:00:00Z');
  for (const seconds of [0, 0.4, 4.2, 42, 59.97, 185, 8045, 86_399, 90_000, 86_400 * 13, 86_400 * 21]) {
    expect(script.duration(seconds)).toBe(duration(seconds));
    expect(script.age(seconds)).toBe(age(new Date(now - seconds * 1000).toISOString(), now));
  }
});
