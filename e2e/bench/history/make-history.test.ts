import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkRollUps } from '../../../api-server/src/store/aggregates/roll-up-check.ts';
import { openDatabase } from '../../../api-server/src/store/db/open-database.ts';
import { scratchDirectory } from '../../support/scratch.ts';
import { makeHistory } from './make-history.ts';

const UNTIL = Date.parse('2026-11-22T00:00:00Z');

/** What a history of this seed holds, as its rows say. */
async function historyOf(seed: number) {
  using scratch = scratchDirectory('signalbox-history-');
  const database = await openDatabase({
    file: join(scratch.path, 'service.db'),
    autoMigrate: true,
    synchronous: 'NORMAL',
    now: () => UNTIL,
  });
  try {
    const size = { steps: 1_000, seed, until: UNTIL };
    const runs = await makeHistory(database, size, { directory: scratch.path, progress: () => undefined });
    const { db } = database;
    return {
      runs,
      stored: await db.selectFrom('runs').select(['id', 'pipeline_name', 'status', 'triggered_at']).execute(),
      deliveries: await db.selectFrom('deliveries').select(['run_id', 'outcome', 'received_at']).execute(),
      decided: await db.selectFrom('audit').select(['run_id', 'action']).execute(),
      marks: await db.selectFrom('run_feedback').select(['run_id', 'outcome']).execute(),
      shortfalls: await checkRollUps(db),
    };
  } finally {
    await database.close();
  }
}

test('a seed gives the same history each time, whose sums are those of its rows', async () => {
  const [first, again] = [await historyOf(7), await historyOf(7)];
  expect(again).toEqual(first);
  expect(first).toMatchObject({ runs: 200, shortfalls: [] });
  expect(first.stored).toHaveLength(200);
  expect(first.marks.length).toBeGreaterThan(0);
  expect(first.deliveries.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(200);
  expect(first.deliveries.length).toBeGreaterThan(200);
  expect(first.decided.length).toBeGreaterThan(0);
  expect((await historyOf(8)).stored).not.toEqual(first.stored);
});
