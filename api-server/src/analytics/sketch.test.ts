import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addStored, bucketOf, emptySketch, p95Of } from './sketch.ts';

const exact = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length * 95 + 99) / 100) - 1];

test('a percentile of durations is off by less than 1%, also of sketches that were added up', () => {
  const durations = fc.array(fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 90 * 86_400_000 })), {
    minLength: 1,
  });
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const sketch = emptySketch();
      for (const values of [some, others]) {
        const counts = Object.groupBy(values, bucketOf);
        addStored(
          [sketch],
          JSON.stringify(counts, (_, of: unknown) => (Array.isArray(of) ? of.length : of)),
        );
      }
      const wanted = exact([...some, ...others]) ?? Number.NaN;
      const found = p95Of(sketch) ?? Number.NaN;
      // It is a whole number of milliseconds.
      expect(Math.abs(found - wanted)).toBeLessThanOrEqual(0.01 * wanted + 0.5);
    }),
  );
});

test('nothing has no percentile', () => {
  expect(p95Of(emptySketch())).toBeNull();
});

test('a text of counts is added to every sketch, as both databases write it', () => {
  const [one, two] = [emptySketch(), emptySketch()];
  for (const text of ['{"0":1,"17":250,"1901":3}', '{ "17" : 5, "1901" : 40 }', '{}']) addStored([one, two], text);
  expect([0, 17, 1901, 1].map((bucket) => one[bucket])).toEqual([1, 255, 43, 0]);
  expect(two).toEqual(one);
});

test('the longest duration that a number holds has a bucket', () => {
  const sketch = emptySketch();
  addStored([sketch], JSON.stringify({ [bucketOf(Number.MAX_SAFE_INTEGER)]: 1 }));
  expect(p95Of(sketch)).toBeGreaterThan(Number.MAX_SAFE_INTEGER * 0.99);
});
