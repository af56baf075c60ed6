import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addTo, GROWTH, p95Of, type Sketch } from './sketch.ts';

const bucketOf = (ms: number): number => Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(GROWTH));
const exact = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length * 95 + 99) / 100) - 1];

test('a percentile of durations is off by less than 1 %, also of sketches that were added up', () => {
  const durations = fc.array(fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 90 * 86_400_000 })), {
    minLength: 1,
  });
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const sketch: Sketch = new Map();
      for (const values of [some, others]) for (const ms of values) addTo(sketch, bucketOf(ms), 1);
      const wanted = exact([...some, ...others]) ?? Number.NaN;
      const found = p95Of(sketch) ?? Number.NaN;
      expect(Math.abs(found - wanted)).toBeLessThanOrEqual(Math.max(0.01 * wanted, 0.5));
    }),
  );
});

test('nothing has no percentile', () => {
  expect(p95Of(new Map())).toBeNull();
});
