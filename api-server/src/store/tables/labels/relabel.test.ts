import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  judge,
  type KnownRun,
  type KnownStep,
  randomHistory,
  storeRun,
  storeSteps,
} from '../../aggregates/fixtures/random-history.ts';
import type { Database } from '../../db/database.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { relabel } from './relabel.ts';

let site: TestDatabase;
let database: Database;
beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

const [some] = randomHistory(1, 1) as [KnownRun];

const failed = (name: string, startedAt: number): KnownStep => ({
  name,
  isGroup: false,
  status: 'failed',
  startedAt: some.triggeredAt + startedAt,
  tookMs: 5,
  agent: 'reader',
  model: 'small',
  input: null,
  cost: null,
  checkFailed: true,
  mark: null,
});

async function begin(n: number): Promise<KnownRun> {
  const run: KnownRun = { ...some, id: `run-${n}`, status: null, isReplay: false, mark: null, steps: [] };
  await storeRun(database, run);
  return run;
}

const end = (run: KnownRun, step: KnownStep): Promise<void> =>
  database.write((tx) => storeSteps(tx, { ...run, steps: [step] }));

const labels = async ({ id }: KnownRun) => ({
  run: await database.db.selectFrom('run_labels').selectAll().where('run_id', '=', id).execute(),
  steps: await database.db
    .selectFrom('judged_steps')
    .selectAll()
    .where('run_id', '=', id)
    .orderBy('step_name')
    .execute(),
});

const STEPS = [failed('first', 1), failed('later', 2), failed('together', 2)];
const ORDERS = STEPS.flatMap((one) => {
  const others = STEPS.filter((step) => step !== one);
  return [others, others.toReversed()].map((rest) => [one, ...rest]);
});

test.each(['nothing', 'the run', 'the first of them to end'])(
  'executions whose checks fail one by one count as all of them together, where a person marks %s meanwhile',
  async (marked) => {
    for (const [n, order] of ORDERS.entries()) {
      const run = await begin(n);
      for (const [at, step] of order.entries()) {
        await end(run, step);
        if (at === 0 && marked !== 'nothing')
          await judge(database, run, { step: marked === 'the run' ? null : step, outcome: 'correct' });
      }
      const found = await labels(run);
      expect(found.run).toHaveLength(1);
      expect(found.steps).toHaveLength(3);
      await database.write((tx) => relabel(tx, run.id));
      expect(found).toEqual(await labels(run));
    }
  },
);

test('a failed check writes down its own execution and looks at no other', async () => {
  const run = await begin(1);
  await end(run, failed('first', 1));
  await database.write(({ db }) => db.updateTable('judged_steps').set({ agent: 'untouched' }).execute());
  await end(run, failed('later', 2));
  const judged = (await labels(run)).steps.map(({ step_name: name, agent }) => `${name} ${agent}`);
  expect(judged).toEqual(['first untouched', 'later reader']);
});
