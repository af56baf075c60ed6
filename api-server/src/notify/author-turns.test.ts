import { expect, test } from 'vitest';
import { createPace } from './author-turns.ts';

const HOUR_MS = 3_600_000;

test('a hundred messages of a tenant are due at once, and one more every 200 ms', () => {
  const pace = createPace();
  const due = Array.from({ length: 103 }, () => pace('shop', HOUR_MS));
  expect(due.slice(0, 101).every((at) => at === HOUR_MS)).toBe(true);
  expect(due.slice(101)).toEqual([HOUR_MS + 200, HOUR_MS + 400]);
  expect(pace('pay', HOUR_MS)).toBe(HOUR_MS);
});

test('a clock that is set back holds no message', () => {
  const pace = createPace();
  for (let sent = 0; sent < 200; sent++) pace('shop', 2 * HOUR_MS);
  expect(pace('shop', HOUR_MS)).toBe(HOUR_MS);
});
