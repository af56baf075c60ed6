import { expect, test } from 'vitest';
import { openTestStore } from '../../../web/fixtures/store.ts';
import { addLargeRun } from '../../fixtures/large-run.ts';
import { withUses } from './stored-uses.ts';

test('what runs used is read of few executions at a time', async () => {
  const store = await openTestStore();
  try {
    const runs = [await store.addRun(0), await addLargeRun(store, 1, 3_000), await addLargeRun(store, 2, 3_000)];
    const found: object[][] = [];
    const asked = runs.map((id) => ({ id }));
    for await (const some of withUses(store.database.db, asked)) found.push(some);
    const uses = [['investigator', 'demo/scripted']];
    expect(found).toEqual([
      [
        { id: runs[0], uses: [] },
        { id: runs[1], uses },
      ],
      [{ id: runs[2], uses }],
    ]);
  } finally {
    await store.close();
  }
});
