import { expect, test } from 'vitest';
import { NOW, openTestStore } from '../../../web/fixtures/store.ts';
import { listRuns } from '../list-runs.ts';

const RUNS = 560;

test('a page of very many open runs, their number and the next page are those of the same list with another filter beside it', async () => {
  const store = await openTestStore();
  try {
    const first = await store.addRun(1, { status: 'failed' });
    const { db } = store.database;
    const { seq: _, ...row } = await db
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', first)
      .executeTakeFirstOrThrow();
    await store.database.write(async (tx) => {
      for (let n = 2; n <= RUNS; n += 1) {
        const id = `run-${n}`;
        const state = n % 20 === 0 ? 'acknowledged' : 'open';
        await tx.db
          .insertInto('runs')
          .values({ ...row, id })
          .execute();
        if (n % 50 === 0) continue;
        const nobody = { team: null, assignee: null, note: null, acknowledged_at: null, acknowledged_by: null };
        await tx.db
          .insertInto('attention')
          .values({
            ...nobody,
            run_id: id,
            state,
            opened_at: NOW,
            resolved_at: null,
            resolved_by: null,
            resolution: null,
          })
          .execute();
      }
    });
    for (const page of [{ offset: 0 }, { offset: 510 }, { offset: 0, before: 300 }]) {
      const shown = await listRuns(db, { attention: ['open'] }, { limit: 8, ...page });
      expect(shown.runs.length).toBeGreaterThan(0);
      expect(shown).toEqual(await listRuns(db, { attention: ['open'], pipeline: 'checkout' }, { limit: 8, ...page }));
    }
  } finally {
    await store.close();
  }
});
