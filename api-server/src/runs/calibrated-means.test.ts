import { expect, test } from 'vitest';
import { rememberMeans } from './calibrated-means.ts';
import type { CalibrationQuery } from './evidence.ts';

const QUERY: CalibrationQuery = {
  stepName: 'look',
  agent: 'a',
  provider: 'p',
  model: 'm',
  promptHash: 'h',
  agentVersion: 'v',
  confidence: 0.9,
};

function clockwork(ttlSeconds: number) {
  const clock = { now: 0 };
  const reads: CalibrationQuery[] = [];
  const read = (query: CalibrationQuery) => Promise.resolve(reads.push(query));
  return { clock, reads, means: rememberMeans(read, { ttlSeconds, binWidth: 0.1, now: () => clock.now }) };
}

test('calibration.cache_ttl_seconds: a bin is read once in that time, whatever the confidence in it', async () => {
  const { clock, reads, means } = clockwork(300);
  expect(await means(QUERY)).toBe(1);
  clock.now = 299_999;
  expect(await means({ ...QUERY, confidence: 0.99 })).toBe(1);
  clock.now = 300_000;
  expect(await means(QUERY)).toBe(2);
  expect(reads).toHaveLength(2);
});

test('another bin and another bucket are others', async () => {
  const { reads, means } = clockwork(300);
  for (const other of [{}, { confidence: 0.89 }, { agentVersion: 'v2' }, { promptHash: null }, { stepName: 'b' }])
    await means({ ...QUERY, ...other });
  expect(reads).toHaveLength(5);
});

test('with 0 every look is a read', async () => {
  const { means } = clockwork(0);
  expect([await means(QUERY), await means(QUERY)]).toEqual([1, 2]);
});

test('a thousand bins are remembered and no more', async () => {
  const { reads, means } = clockwork(300);
  for (let index = 0; index <= 1_000; index++) await means({ ...QUERY, stepName: `s${index}` });
  await means({ ...QUERY, stepName: 's1000' });
  expect(reads).toHaveLength(1_001);
  await means({ ...QUERY, stepName: 's0' });
  expect(reads).toHaveLength(1_002);
});
