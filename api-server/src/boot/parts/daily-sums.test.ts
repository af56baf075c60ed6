import { expect, test } from 'vitest';
import { lastMark } from '../../store/tables/marks.ts';
import { RUNS_PACKED } from '../../store/aggregates/uses/pack-days.ts';
import { openTestStore } from '../../web/fixtures/store.ts';
import { sumDays } from './daily-sums.ts';

const DAY_MS = 86_400_000;

test('where one part of the work of an hour fails, the parts behind it are done', async () => {
  const { database, addRun, addStep, close } = await openTestStore();
  const said: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void said.push(fields) };
  try {
    const day = Date.now() - 3 * DAY_MS;
    await addStep(await addRun(1, { triggered_at: day, completed_at: day + 5 }), 'look');
    await database.write(({ db }) => db.schema.dropTable('packed_evidence').execute());
    await sumDays({ database, signal: new AbortController().signal, log });
    expect(said).toMatchObject([{ task: 'evidence' }]);
    expect(await lastMark(database.db, RUNS_PACKED)).toBe(day - (day % DAY_MS) + DAY_MS);
  } finally {
    await close();
  }
});
