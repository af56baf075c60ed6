import { expect, test } from 'vitest';
import { RUNS_A_PART, type UsedRun } from './packed-runs.ts';
import { partsOf, USES_A_PART } from './pack-days.ts';

const run = (uses: number): UsedRun => ({
  kind: { pipeline: 'checkout', stage: 'production', team: null, status: 'completed' },
  times: { triggeredAt: 0, took: 5, waited: null },
  uses: Array.from({ length: uses }, (_, n) => [`agent-${n}`, 'small'] as const),
});

async function sizesOf(given: UsedRun[]): Promise<number[]> {
  const sizes: number[] = [];
  const readable = (async function* () {
    for (const one of given) yield await Promise.resolve(one);
  })();
  for await (const part of partsOf(readable)) sizes.push(part.length);
  return sizes;
}

test('a part of a day has no more than so many runs, and so many uses', async () => {
  expect(await sizesOf([])).toEqual([]);
  expect(await sizesOf(Array.from({ length: RUNS_A_PART + 1 }, () => run(1)))).toEqual([RUNS_A_PART, 1]);
  const half = run(USES_A_PART / 2);
  expect(await sizesOf([half, half, run(1), half, run(USES_A_PART + 1), run(0)])).toEqual([2, 2, 1, 1]);
});
