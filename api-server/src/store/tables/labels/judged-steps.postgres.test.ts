import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type KnownRun,
  markOf,
  randomHistory,
  storeEnd,
  storeRun,
  storeSteps,
} from '../../aggregates/fixtures/random-history.ts';
import type { Database, Tx } from '../../db/database.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { markRun } from '../feedback.ts';

let site: TestDatabase;
let [one, other]: Database[] = [];
beforeEach(async () => {
  site = await newTestDatabase();
  [one, other] = await Promise.all([site.open(), site.open()]);
});
afterEach(async () => {
  await Promise.all([one?.close(), other?.close()]);
  await site.remove();
});

const isPlain = ({ status, steps: [step, more] }: KnownRun) =>
  status !== null && more === undefined && step?.status === 'completed' && !step.isGroup && !step.checkFailed;
const run = randomHistory(1, 200).find(isPlain) as KnownRun;
const JOBS = {
  mark: async (tx: Tx) => void (await markRun(tx, markOf(run, 'partial'))),
  end: async (tx: Tx) => {
    await storeSteps(tx, run);
    await storeEnd(tx, run);
  },
} as const;

/** Whether somebody waits for a lock; what the server says of its sessions stays the same during a transaction. */
async function isAwaited({ db }: Tx): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_locks where not granted`.execute(db);
  return rows.length > 0;
}

test.each([
  ['mark', 'end'],
  ['end', 'mark'],
] as const)('a run whose %s is being stored while its %s arrives counts with its steps', async (first, second) => {
  await storeRun(one as Database, { ...run, status: null, mark: null, steps: [] });
  const [state, behind] = [{ over: false }, Promise.withResolvers<unknown>()];
  await one?.write(async (tx) => {
    await JOBS[first](tx);
    behind.resolve(other?.write(JOBS[second]).finally(() => (state.over = true)));
    while (!state.over && !(await isAwaited(tx))) continue;
  });
  await behind.promise;
  const judged = await one?.db.selectFrom('judged_steps').select(['step_name', 'outcome']).execute();
  expect(judged).toEqual([{ step_name: run.steps[0]?.name, outcome: 'partial' }]);
});
