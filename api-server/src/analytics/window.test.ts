import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOUR_MS } from '../runs/state/hourly.ts';
import { bucketsOf, bucketWidth, hourParts, TIME_RANGES, windowBefore, windowOf } from './window.ts';

const NOW = Date.parse('2026-11-21T12:34:56Z');
const DAY = 24 * HOUR_MS;

test('hours and edges together are exactly the window', () => {
  const at = fc.integer({ min: 0, max: 10 * HOUR_MS });
  fc.assert(
    fc.property(at, at, at, (one, other, time) => {
      const window = { from: Math.min(one, other), to: Math.max(one, other) };
      const { hours, edges } = hourParts(window);
      const hour = time - (time % HOUR_MS);
      const inHours = hours !== null && hour >= (hours.from ?? hour) && hour < (hours.to ?? hour + 1);
      const inEdges = edges.filter(({ from, to }) => time >= from && time < to).length;
      expect(Number(inHours) + inEdges).toBe(Number(time >= window.from && time < window.to));
      for (const { from, to } of edges) expect(from - (from % HOUR_MS)).toBe(to - 1 - ((to - 1) % HOUR_MS));
    }),
  );
});

test('an open window has no edge where it is open', () => {
  expect(hourParts({ from: null, to: null })).toEqual({ hours: { from: null, to: null }, edges: [] });
  expect(hourParts(windowOf('24h', NOW)).edges).toHaveLength(1);
});

test('the window before ends where the window begins', () => {
  for (const range of TIME_RANGES) expect(windowBefore(range, NOW)?.to ?? null).toBe(windowOf(range, NOW).from);
});

test.each([
  ['24h', NOW, 25],
  ['7d', NOW, 29],
  ['30d', NOW, 31],
  ['all', NOW - 40 * DAY, 41],
  ['all', NOW - 300 * DAY, 44],
  ['all', NOW, 1],
  ['all', 0, 120],
] as const)('%s from %i has %i buckets that cover it', (range, oldest, expected) => {
  const window = windowOf(range, NOW);
  const first = window.from ?? oldest;
  const bucketMs = bucketWidth(range, { first, now: NOW });
  const buckets = bucketsOf(window, { bucketMs, first, now: NOW });
  expect(buckets).toHaveLength(expected);
  expect(buckets.at(-1)).toBeLessThanOrEqual(NOW);
  expect((buckets.at(-1) ?? 0) + bucketMs).toBeGreaterThan(NOW);
  if (oldest > 0) expect(buckets[0]).toBeLessThanOrEqual(first);
});
