import { expect, test } from 'vitest';
import { openTestStore } from '../../../web/fixtures/store.ts';
import { portionsOf } from './step-counts.ts';

test('runs are taken together while their steps are few, and a run with more of them is alone', async () => {
  const store = await openTestStore();
  try {
    const runs: { id: string }[] = [];
    for (const [n, steps] of [0, 9, 3, 2, 0, 1, 9, 5, 5].entries()) {
      const id = await store.addRun(n);
      for (let step = 0; step < steps; step += 1) await store.addStep(id, `step-${step}`);
      runs.push({ id });
    }
    const portions = await portionsOf(store.database.db, runs, 5);
    expect(portions.map((some) => some.map((run) => runs.indexOf(run)))).toEqual([
      [0],
      [1],
      [2, 3, 4],
      [5],
      [6],
      [7],
      [8],
    ]);
  } finally {
    await store.close();
  }
});
