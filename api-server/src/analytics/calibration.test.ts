import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calibrate, calibratedMean, dividesOne, type BucketKey, type Label, type Labelled } from './calibration.ts';

const BUCKET: BucketKey = { agent: 'a', provider: 'p', model: 'm', promptHash: 'h', agentVersion: 'v' };
const RULE = { nMin: 20, binWidth: 0.1 };
const rows = (
  confidence: number,
  counts: Partial<Record<'right' | 'half' | 'wrong', number>>,
  key = BUCKET,
): Labelled[] =>
  (
    [
      ['right', 1],
      ['half', 0.5],
      ['wrong', 0],
    ] as const
  ).flatMap(([name, label]) => {
    const n = counts[name] ?? 0;
    return n === 0 ? [] : [{ ...key, confidence, label, n }];
  });
const only = (given: Labelled[], rule = RULE) => {
  const [bucket] = calibrate(given, rule);
  if (!bucket) throw new Error('there is no bucket');
  return bucket;
};

test('a bucket has 1/bin_width bins, empty ones too, and each says how often its executions were right', () => {
  const { bins, totalN } = only([...rows(0.93, { right: 2, half: 1, wrong: 1 }), ...rows(0.3, { right: 1 })]);
  expect(bins).toHaveLength(10);
  expect(totalN).toBe(5);
  expect(bins[9]).toMatchObject({ lo: 0.9, hi: 1, n: 4, meanLabel: 0.625, validated: false });
  expect(bins[3]).toMatchObject({ lo: 0.3, hi: 0.4, n: 1, meanLabel: 1 });
  expect(bins[0]).toEqual({ lo: 0, hi: 0.1, n: 0, meanLabel: null, meanConfidence: null, validated: false });
});

test.each([
  [0, 0],
  [0.0999, 0],
  [0.1, 1],
  [0.3, 3],
  [0.7, 7],
  [0.29, 2],
  [0.999, 9],
  [1, 9],
])('a confidence of %s falls in bin %s', (confidence, bin) => {
  expect(only(rows(confidence, { right: 1 })).bins.findIndex(({ n }) => n === 1)).toBe(bin);
});

test.each([0.5, 0.25, 0.2, 0.1, 0.05, 1, 1 / 3, 0.001])('a width of %s divides 1 into that many bins', (binWidth) => {
  expect(dividesOne(binWidth)).toBe(true);
  const { bins } = only(rows(0.5, { right: 1 }), { nMin: 1, binWidth });
  expect(bins).toHaveLength(Math.round(1 / binWidth));
  expect([bins[0]?.lo, bins.at(-1)?.hi]).toEqual([0, 1]);
});

test.each([0.3, 0.15, 0.4, 0.7])('a width of %s does not divide 1', (width) => {
  expect(dividesOne(width)).toBe(false);
});

test('a bin is validated from n_min marked executions on', () => {
  expect(only(rows(0.9, { right: 19 })).bins[9]?.validated).toBe(false);
  expect(only(rows(0.9, { right: 20 })).bins[9]?.validated).toBe(true);
  expect(only(rows(0.9, { right: 2 }), { ...RULE, nMin: 2 }).bins[9]?.validated).toBe(true);
});

test('a validated bin that promises too much is told in a sentence', () => {
  expect(only(rows(0.9, { right: 15, wrong: 9 })).recommendation).toBe(
    'Runs that say about 0.9 are correct only in 63% of 24 marked cases.',
  );
});

test('the worst of several is told', () => {
  const bad = rows(0.92, { right: 10, wrong: 10 });
  expect(only([...rows(0.85, { right: 14, wrong: 6 }), ...bad]).recommendation).toContain('about 0.92');
});

test.each([
  ['too few marks', rows(0.9, { wrong: 19 })],
  ['right as often as said', rows(0.9, { right: 18, wrong: 2 })],
  ['a little less often than said', rows(0.9, { right: 16, wrong: 4 })],
  ['more often right than said', rows(0.3, { right: 30 })],
])('nothing is told of a bin with %s', (_, given) => {
  expect(only(given).recommendation).toBeNull();
});

test('each part of the key makes another bucket; the one with most marks is first', () => {
  const others = (Object.keys(BUCKET) as (keyof BucketKey)[]).map((part, i) =>
    rows(0.9, { right: 10 + i }, { ...BUCKET, [part]: null }),
  );
  const buckets = calibrate([...rows(0.9, { right: 1 }), ...others.flat()], RULE);
  expect(buckets.map(({ totalN }) => totalN)).toEqual([14, 13, 12, 11, 10, 1]);
  expect(buckets[0]).toMatchObject({ ...BUCKET, agentVersion: null });
});

test('names that look alike when strung together stay apart', () => {
  const tricky = [
    { ...BUCKET, agent: 'a","p', provider: 'x' },
    { ...BUCKET, agent: 'a', provider: 'p","x' },
    { ...BUCKET, agent: null },
    { ...BUCKET, agent: 'null' },
  ];
  expect(
    calibrate(
      tricky.flatMap((key) => rows(0.5, { right: 1 }, key)),
      RULE,
    ),
  ).toHaveLength(4);
});

const Rows = fc.array(
  fc.record({
    agent: fc.constantFrom('a', 'b', null),
    provider: fc.constant('p'),
    model: fc.constantFrom('m', null),
    promptHash: fc.constant('h'),
    agentVersion: fc.constant('v'),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    label: fc.constantFrom<Label[]>(0, 0.5, 1),
    n: fc.integer({ min: 1, max: 50 }),
  }),
  { minLength: 1 },
);

test('every marked execution is in one bin, the bins add up, and the gate takes what the bins show', () => {
  fc.assert(
    fc.property(Rows, fc.constantFrom(0.1, 0.2, 0.25, 0.05), (given, binWidth) => {
      const rule = { nMin: 5, binWidth };
      const buckets = calibrate(given, rule);
      expect(buckets.reduce((n, { totalN }) => n + totalN, 0)).toBe(given.reduce((total, { n }) => total + n, 0));
      for (const { totalN, bins, ...key } of buckets) {
        expect(bins.reduce((n, bin) => n + bin.n, 0)).toBe(totalN);
        for (const { lo, hi, meanLabel, meanConfidence, validated } of bins) {
          const mean = calibratedMean(given, { ...key, confidence: (lo + hi) / 2 }, rule);
          if (validated) expect(mean).toBeCloseTo(meanLabel ?? Number.NaN, 9);
          else expect(mean).toBeNull();
          if (meanConfidence === null) continue;
          expect(meanConfidence).toBeGreaterThanOrEqual(lo - 1e-8);
          expect(meanConfidence).toBeLessThanOrEqual(hi + 1e-8);
        }
      }
    }),
  );
});

test.each([
  [0.1, 400],
  [0.001, 20],
])('of 1,500 buckets with bins of %f those with most marks are listed: %i', (binWidth, listed) => {
  const labelled = Array.from({ length: 1_500 }, (_, at): Labelled => ({
    agent: 'a',
    provider: null,
    model: `model-${at}`,
    promptHash: null,
    agentVersion: null,
    confidence: 0.5,
    label: 1,
    n: at + 1,
  }));
  const buckets = calibrate(labelled, { nMin: 1, binWidth });
  expect(buckets.map(({ totalN }) => totalN)).toEqual(Array.from({ length: listed }, (_, at) => 1_500 - at));
});
