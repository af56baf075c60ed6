import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { addBranches, dropBranches, takeWorkers } from './workers.ts';

const runBelow = (parent: ActiveRun | null) => ({ parent }) as ActiveRun;

test('fan-outs of one run and of its sub-runs work on so many branches together, and each on one at least', () => {
  const top = runBelow(null);
  const first = takeWorkers(top, 50);
  const below = Array.from({ length: 5 }, () => takeWorkers(runBelow(runBelow(top)), 50));
  expect([first, ...below].map(({ count }) => count)).toEqual([50, 50, 50, 50, 1, 1]);
  expect(takeWorkers(runBelow(null), 50).count).toBe(50);
  for (let at = 0; at < 12; at++) first.leave();
  expect([takeWorkers(top, 50).count, takeWorkers(top, 0).count]).toEqual([10, 0]);
});

test('a run and its sub-runs that have not ended have so many branches together, and none of those that ended', () => {
  const top = runBelow(null);
  const [one, other] = [runBelow(top), runBelow(runBelow(top))];
  expect([addBranches(top, 5_000), addBranches(one, 8_000), addBranches(other, 8_000)]).toEqual([true, true, false]);
  expect(addBranches(runBelow(null), 8_000)).toBe(true);
  dropBranches(one);
  expect([addBranches(other, 8_000), addBranches(other, 8_000)]).toEqual([true, false]);
});
