import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  Change,
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

test('a mark of an execution writes down its own execution and looks at no other', async () => {
  const run = { ...(await begin(1)), steps: STEPS };
  await database.write((tx) => storeSteps(tx, run));
  await database.write(({ db }) => db.updateTable('judged_steps').set({ agent: 'untouched' }).execute());
  const judged = async () => (await labels(run)).steps.map(({ agent, outcome }) => `${agent} ${outcome}`);
  const others = ['untouched incorrect', 'untouched incorrect'];
  await judge(database, run, { step: STEPS[0] as KnownStep, outcome: 'partial' });
  expect(await judged()).toEqual(['reader partial', ...others]);
  await judge(database, run, { step: STEPS[0] as KnownStep, outcome: null });
  expect(await judged()).toEqual(['reader incorrect', ...others]);
});

const ended = (name: string, startedAt: number): KnownStep => ({
  ...failed(name, startedAt),
  status: 'completed',
  checkFailed: false,
});

/** In the order of the pipeline; the last two do not count. */
const MIXED: readonly KnownStep[] = [
  failed('look', 2),
  ended('wait', 1),
  ended('zoom', 2),
  ended('act', 2),
  ended('each/0', 3),
  ended('each/1', 3),
  { ...ended('later', 4), status: 'skipped' },
  { ...ended('group', 4), isGroup: true },
];
const COUNTED = MIXED.slice(0, -2);

/** The label of the run, and those of its executions, by counting. */
function expected({ mark, steps }: KnownRun) {
  const counted = steps.slice(0, COUNTED.length).map((step, at) => {
    // The branches have the place of their group.
    const place = Math.min(at, 4);
    const own = step.mark ?? (step.checkFailed ? 'incorrect' : null);
    return { ...step, place, own };
  });
  const last = counted
    .filter(({ own }) => own !== null)
    .toSorted((a, b) => a.startedAt - b.startedAt || a.place - b.place || (a.name < b.name ? -1 : 1))
    .at(-1);
  const judged = counted.flatMap(({ name, own }) => (own ?? mark) && `${name} ${own ?? mark}`).filter(Boolean);
  return { run: mark ?? last?.own, steps: judged.toSorted() };
}

test.each([1, 2, 3])(
  'marks and withdrawals of executions and their run leave the labels that all of them together give (seed %i)',
  async (seed) => {
    const run = { ...(await begin(1)), steps: MIXED.map((step) => ({ ...step })) };
    await database.write((tx) => storeSteps(tx, run));
    await database.write(({ db }) =>
      db.updateTable('step_executions').set({ step_index: 4 }).where('step_name', 'like', 'each/%').execute(),
    );
    for (const { step: at, outcome } of fc.sample(Change, { numRuns: 60, seed })) {
      const step = at === null ? null : (run.steps[at % run.steps.length] as KnownStep);
      await judge(database, run, { step, outcome });
      const found = await labels(run);
      const steps = found.steps.map((row) => `${row.step_name} ${row.outcome}`);
      expect({ run: found.run[0]?.outcome, steps: steps.toSorted() }).toEqual(expected(run));
      await database.write((tx) => relabel(tx, run.id));
      expect(found).toEqual(await labels(run));
    }
  },
);
