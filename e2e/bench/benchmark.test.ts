import { expect, test } from 'vitest';
import { type Figure, holds, median, otherAnswers } from './benchmark.ts';

const figure = (value: number, limit?: Figure['limit']): Figure => ({ what: 'a figure', value, unit: 'x', limit });

test.each([
  [0.4, { direction: 'least', bound: 0.4 }, true],
  [0.39, { direction: 'least', bound: 0.4 }, false],
  [2, { direction: 'most', bound: 2 }, true],
  [2.1, { direction: 'most', bound: 2 }, false],
  [500, { direction: 'exactly', bound: 500 }, true],
  [501, { direction: 'exactly', bound: 500 }, false],
] as const)('%d against %o holds: %s', (value, limit, expected) => {
  expect(holds(figure(value, limit))).toBe(expected);
});

test('a value that could not be measured holds no limit', () => {
  expect(holds(figure(Number.NaN, { direction: 'least', bound: 0 }))).toBe(false);
  expect(holds(figure(Number.NaN, { direction: 'most', bound: 9 }))).toBe(false);
});

test('the median lies in the middle, whatever the order', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('only answers other than accepted are named beside a figure', () => {
  expect(otherAnswers('service', [{ answers: { accepted: 10 } }])).toBe('');
  expect(otherAnswers('service', [{ answers: { accepted: 10, 429: 2 } }, { answers: { 429: 3 } }])).toBe(
    '; service: 5 answered 429',
  );
});
