import { expect, test } from 'vitest';
import type { Labelled } from './calibration.ts';
import { createCalibration } from './calibrated-means.ts';
import type { CalibrationQuery } from '../runs/evidence/evidence.ts';

const BUCKET = { agent: 'a', provider: 'p', model: 'm', promptHash: 'h', agentVersion: 'v' };
const QUERY: CalibrationQuery = { stepName: 'look', ...BUCKET, confidence: 0.9 };

function clockwork(ttlSeconds: number) {
  const clock = { now: 1 };
  const reads: string[] = [];
  const rows: Labelled[] = [
    { ...BUCKET, confidence: 0.92, label: 1, n: 1 },
    { ...BUCKET, confidence: 0.99, label: 0, n: 1 },
  ];
  const read = (stepName: string) => {
    reads.push(stepName);
    return Promise.resolve([...rows]);
  };
  const rule = { nMin: 2, binWidth: 0.1 };
  return { clock, reads, rows, means: createCalibration(read, { ttlSeconds, rule, now: () => clock.now }) };
}

test('calibration.cache_ttl_seconds: the buckets of a step are read once in that time', async () => {
  const { clock, reads, rows, means } = clockwork(300);
  expect(await means.meanOf(QUERY)).toBe(0.5);
  rows.push({ ...BUCKET, confidence: 0.95, label: 1, n: 2 });
  clock.now = 300_001;
  expect(await means.meanOf({ ...QUERY, confidence: 0.99 })).toBe(0.5);
  clock.now = 300_002;
  expect(await means.meanOf(QUERY)).toBe(0.75);
  expect(reads).toEqual(['look', 'look']);
});

test('a person who looks sees what is stored now, and the gate goes by that from then on', async () => {
  const { reads, rows, means } = clockwork(300);
  await means.meanOf(QUERY);
  rows.push({ ...BUCKET, confidence: 0.95, label: 1, n: 2 });
  expect(await means.read('look')).toHaveLength(3);
  expect(await means.meanOf(QUERY)).toBe(0.75);
  expect(reads).toHaveLength(2);
});

test('another bin, another bucket and another step are others', async () => {
  const { reads, means } = clockwork(300);
  for (const other of [{ confidence: 0.89 }, { agentVersion: 'v2' }, { promptHash: null }])
    expect(await means.meanOf({ ...QUERY, ...other })).toBeNull();
  expect(reads).toEqual(['look']);
  await means.meanOf({ ...QUERY, stepName: 'other' });
  expect(reads).toEqual(['look', 'other']);
});

test('with 0 every look is a read', async () => {
  const { reads, means } = clockwork(0);
  await means.meanOf(QUERY);
  await means.meanOf(QUERY);
  expect(reads).toHaveLength(2);
});

test('two hundred steps are remembered and no more', async () => {
  const { reads, means } = clockwork(300);
  for (let index = 0; index <= 200; index++) await means.meanOf({ ...QUERY, stepName: `s${index}` });
  await means.meanOf({ ...QUERY, stepName: 's200' });
  expect(reads).toHaveLength(201);
  await means.meanOf({ ...QUERY, stepName: 's0' });
  expect(reads).toHaveLength(202);
});

test('steps that reach their gates together wait for one read, and a read that fails is tried again', async () => {
  const reads: PromiseWithResolvers<Labelled[]>[] = [];
  const read = () => {
    const answer = Promise.withResolvers<Labelled[]>();
    reads.push(answer);
    return answer.promise;
  };
  const rule = { nMin: 1, binWidth: 0.1 };
  const means = createCalibration(read, { ttlSeconds: 300, rule, now: () => 0 });
  const asked = [means.meanOf(QUERY), means.meanOf(QUERY)];
  expect(reads).toHaveLength(1);
  reads[0]?.reject(new Error('no answer'));
  await expect(Promise.allSettled(asked)).resolves.toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  const again = means.meanOf(QUERY);
  reads[1]?.resolve([{ ...BUCKET, confidence: 0.92, label: 1, n: 1 }]);
  expect(await again).toBe(1);
});
