import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { takeWorkers } from './workers.ts';

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
