import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scaleTop } from './chart.ts';

test('a scale ends at a round number that is not far above the highest value', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (value) => {
      const top = scaleTop(value);
      expect(top).toBeGreaterThanOrEqual(value * (1 - 1e-6));
      expect(top).toBeLessThanOrEqual(value * 1.6);
    }),
  );
  expect([0, 1, 7, 101, 0.03].map(scaleTop)).toEqual([1, 1, 8, 150, 0.03]);
});
