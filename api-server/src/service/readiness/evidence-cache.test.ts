import { expect, test } from 'vitest';
import { startEvidence, type Gathered } from '../../analytics/readiness/readiness.ts';
import { pipelineOf } from '../../analytics/readiness/readiness.fixture.ts';
import { subjectOf } from '../../analytics/readiness/steps.ts';
import { cacheEvidence } from './evidence-cache.ts';

function setUp() {
  const clock = { now: 1 };
  const reads: string[] = [];
  const cache = cacheEvidence(() => clock.now);
  const ask = (key: string) =>
    cache(key, () => {
      reads.push(key);
      const evidence = startEvidence(subjectOf(pipelineOf()));
      return Promise.resolve<Gathered>({ evidence, versionOf: () => null, at: clock.now, cut: false });
    });
  return { clock, reads, ask, cache };
}

test('what was read is good for 30 seconds', async () => {
  const { clock, reads, ask } = setUp();
  expect((await ask('a')).hit).toBe(false);
  clock.now = 30_001;
  expect(await ask('a')).toMatchObject({ hit: true, gathered: { at: 1 } });
  clock.now = 30_002;
  expect(await ask('a')).toMatchObject({ hit: false, gathered: { at: 30_002 } });
  expect(reads).toEqual(['a', 'a']);
});

test('who asks while it is being read waits for the same', async () => {
  const { reads, ask } = setUp();
  const found = await Promise.all([ask('a'), ask('a'), ask('b')]);
  expect(found.map(({ hit }) => hit)).toEqual([false, true, false]);
  expect(reads).toEqual(['a', 'b']);
});

test('eight pipelines are kept, the oldest goes first', async () => {
  const { reads, ask } = setUp();
  for (const key of 'abcdefghi') await ask(key);
  expect((await ask('i')).hit).toBe(true);
  expect((await ask('b')).hit).toBe(true);
  expect((await ask('a')).hit).toBe(false);
  expect(reads).toHaveLength(10);
});

test('a read that failed is not kept', async () => {
  const { ask, cache } = setUp();
  await expect(cache('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  expect((await ask('a')).hit).toBe(false);
});
