import { expect, onTestFinished, test } from 'vitest';
import { openTestStore, runIdOf } from '../../../web/fixtures/store.ts';
import { newestRun } from '../search/index-runs.ts';
import { searchAll } from '../search/search-job.ts';

const QUIET = { info: () => undefined, warn: () => undefined };

test('the steps of a run that began while others were packed are packed too, wherever its rows lie', async () => {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const { database, addRun, addStep } = store;
  const packAll = async () => searchAll({ database, upTo: await newestRun(database.db), log: QUIET });
  const end = (run: number) =>
    database.write(({ db }) =>
      db.updateTable('runs').set({ status: 'completed', completed_at: 2 }).where('id', '=', runIdOf(run)).execute(),
    );
  const start = (run: number) => addRun(run, { status: 'running', completed_at: null });
  await start(1);
  await addStep(runIdOf(1), 'look');
  await end(1);
  await packAll();
  // All rows are packed. Those of two runs follow each other, and the first of the runs is packed while the other goes on.
  await start(2);
  await start(3);
  await addStep(runIdOf(2), 'look');
  for (const name of ['look', 'measure', 'decide']) await addStep(runIdOf(3), name);
  await end(2);
  await packAll();
  for (const name of ['restart', 'watch', 'report']) await addStep(runIdOf(3), name);
  await end(3);
  await packAll();
  expect(await database.db.selectFrom('unsearched').selectAll().execute()).toEqual([]);
  const bodies = await database.db.selectFrom('run_bodies').select('seq').execute();
  expect(bodies).toHaveLength(3);
});
