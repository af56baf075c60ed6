import { expect, test } from 'vitest';
import { createCapacity } from '../runs/run/capacity.ts';
import type { ConcurrencyGroup } from '../runs/state/concurrency-group.ts';
import { type Candidate, lookElsewhere } from './shared-queue.ts';

test('the runs of one delivery take the places that are left, and each concurrency group is looked at once', async () => {
  const looked: string[] = [];
  const places: Record<string, number> = { one: 2, full: -7 };
  const shared = {
    waiting: () => Promise.resolve(5),
    placesLeft: (_: unknown, { key }: ConcurrencyGroup) => {
      looked.push(key);
      return Promise.resolve(places[key] ?? 0);
    },
    place: () => Promise.resolve(),
    makeRoom: () => Promise.resolve(),
  };
  const plans = ['one', 'full', 'one', null, 'one', 'full'].map((key): Candidate => ({
    concurrencyGroup: key === null ? null : { key, limit: 3, onLimit: 'queue' },
    open: null,
  }));
  expect(await lookElsewhere(shared, {}, { plans, capacity: createCapacity(100) })).toBe(5);
  expect(plans.map(({ open }) => open)).toEqual([true, false, true, null, false, false]);
  expect(looked).toEqual(['one', 'full']);
});
