import { afterEach, expect, test, vi } from 'vitest';
import type { Database, Tx } from '../../db/database.ts';
import { inBatches } from './in-batches.ts';

let clock = 0;
afterEach(() => {
  clock = 0;
  vi.restoreAllMocks();
});

/** Removes `rows` rows, each of which takes so long, and answers how many each transaction had. */
async function sizes(rows: number, msOfRow: number): Promise<number[]> {
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const taken: number[] = [];
  const database: Pick<Database, 'write'> = { write: async (job) => job({} as Tx) };
  const removed = await inBatches(database, (_, most, from) => {
    const some = Math.min(most, rows - from);
    taken.push(some);
    clock += some * msOfRow;
    return Promise.resolve({ removed: some, seen: some, more: from + some < rows });
  });
  expect(removed).toBe(rows);
  return taken;
}

test('rows that are quickly removed go in growing transactions, up to the most', async () => {
  expect(await sizes(2_000, 0.001)).toEqual([10, 20, 40, 80, 160, 320, 500, 500, 370]);
});

test('slow rows go few at a time, so that nobody waits for a long transaction', async () => {
  expect(await sizes(30, 1)).toEqual([10, 5, 5, 5, 5]);
  expect(await sizes(13, 20)).toEqual([10, 1, 1, 1]);
});
