import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { createShares } from './shares.ts';

const runBelow = (parent: ActiveRun | null, namespace: string | null = null) => ({ parent, namespace }) as ActiveRun;

test('a run and its sub-runs have one share, whatever namespace those count towards', () => {
  const shares = createShares(100);
  const top = runBelow(null, 'shop');
  shares.add(top, 60);
  expect(shares.fits(runBelow(top, 'bank'), 40)).toBe(true);
  expect(shares.fits(runBelow(top, 'bank'), 41)).toBe(false);
  expect(shares.fits(runBelow(null, 'shop'), 41)).toBe(true);
  shares.add(top, -60);
  expect(shares.fits(runBelow(top), 100)).toBe(true);
  expect(shares.all()).toBe(0);
});

/** Runs of the namespaces take turns to hold more, until none of them has room. */
function fill(shares: ReturnType<typeof createShares>, namespaces: readonly (string | null)[], size: number): number[] {
  const held = namespaces.map(() => 0);
  let grew = true;
  while (grew) {
    grew = false;
    for (const [at, namespace] of namespaces.entries()) {
      const run = runBelow(null, namespace);
      if (!shares.fits(run, size)) continue;
      shares.add(run, size);
      held[at] = (held[at] ?? 0) + size;
      grew = true;
    }
  }
  return held;
}

test.each([
  [['a'], [400]],
  [
    ['a', 'b'],
    [270, 260],
  ],
  [
    ['a', 'b', 'c'],
    [200, 200, 200],
  ],
])('namespaces %j hold at most %j of 800, and what they leave is for others', (namespaces, held) => {
  const shares = createShares(100);
  expect(fill(shares, namespaces, 10)).toEqual(held);
  expect(namespaces.map((one) => shares.isFull(one))).toEqual(namespaces.map(() => true));
  expect(shares.isFull('other')).toBe(false);
  expect(shares.isFull(null)).toBe(false);
  expect(shares.fits(runBelow(null, 'other'), 90)).toBe(true);
});

test('runs of the operator may hold all but a little, one of them half of it', () => {
  const shares = createShares(100, 400);
  expect(shares.fits(runBelow(null), 400)).toBe(true);
  expect(shares.fits(runBelow(null), 410)).toBe(false);
  expect(fill(shares, [null], 10)).toEqual([790]);
  expect(shares.isFull(null)).toBe(true);
});
