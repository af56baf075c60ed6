import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

const RANGE = { firstMs: 100, mostMs: 1_000 };

test.each([
  [1, 100],
  [2, 200],
  [4, 800],
  [5, 1_000],
  [5_000, 1_000],
])('after %d failures it is %d ms', (failures, expected) => expect(backoffMs(failures, RANGE)).toBe(expected));

test('jitter takes off no more than its share', () => {
  const waits = Array.from({ length: 200 }, () => backoffMs(3, { ...RANGE, jitter: 0.25 }));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(300);
  expect(Math.max(...waits)).toBeLessThanOrEqual(400);
  expect(new Set(waits).size).toBeGreaterThan(1);
});
