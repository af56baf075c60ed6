import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeFire, takeMissed } from '../../store/tables/schedules.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

const HOUR = 3_600_000;
const lineOf = (pipeline: string) => ({
  pipeline,
  cron: '0 * * * *',
  timezone: 'Etc/UTC',
  next_run: new Date(NOW + HOUR).toISOString(),
  suspended: false,
});

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ deps: { listSchedules: () => [lineOf('sweep'), lineOf('report')] } });
});
afterEach(() => server.close());

test('a schedule says how often it was missed, and when last', async () => {
  const { database } = server.store;
  const fires = [NOW - HOUR, NOW - 2 * HOUR, NOW - 3 * HOUR];
  await database.write((tx) => takeFire(tx, 'sweep', { at: NOW - 2 * HOUR, now: NOW }));
  const miss = () => database.write((tx) => takeMissed(tx, { pipeline: 'sweep', fires, now: NOW }));
  expect([await miss(), await miss()]).toEqual([2, 0]);
  expect(await database.write((tx) => takeFire(tx, 'sweep', { at: NOW - HOUR, now: NOW }))).toBe(false);
  const answer = await server.app.inject({ url: '/schedules', headers: as('viewer') });
  expect(answer.json()).toEqual({
    schedules: [
      { ...lineOf('sweep'), missed: 2, last_missed_at: new Date(NOW - HOUR).toISOString() },
      { ...lineOf('report'), missed: 0, last_missed_at: null },
    ],
  });
});
