import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tidy } from './tidy.ts';

test('sums of fractions lose their noise wherever they stand, and nothing else changes', () => {
  const answer = {
    cost: 0.1 + 0.2,
    third: 2 / 3,
    none: null,
    list: [{ share: 1 - 0.9 }],
    text: '0.30000000000000004',
    n: 9_007_199_254,
  };
  expect(tidy(answer)).toEqual({ ...answer, cost: 0.3, list: [{ share: 0.1 }] });
});

test('an amount of money in micro units survives', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10 ** 11 }), (micros) => tidy(micros / 1e6) === micros / 1e6));
});
