import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../db/database.ts';
import { fillOldUsage, RUNS } from '../../fixtures/old-usage.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { BACKFILL, completeSome } from './usage-backfill.ts';
import { createUsageJob, type UsageJob } from './usage-job.ts';

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

const mark = () => database.db.selectFrom('marks').selectAll().where('name', '=', BACKFILL).execute();
const rowOf = (id: string) =>
  database.db
    .selectFrom('step_executions')
    .select(['input_tokens', 'output_tokens', 'cost', 'cost_source', 'unpriced_calls'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

async function expectComplete(): Promise<void> {
  const complete = { input_tokens: 140, output_tokens: 14, cost: 0.5, cost_source: 'manual', unpriced_calls: 1 };
  expect([await rowOf('s0'), await rowOf(`s${RUNS - 1}`)]).toEqual([complete, complete]);
  const unpriced = { input_tokens: 100, output_tokens: 10, cost: null, cost_source: null, unpriced_calls: null };
  expect(await rowOf(`s${RUNS}`)).toEqual(unpriced);
  expect(await rowOf(`s${RUNS + 1}`)).toMatchObject({ input_tokens: null, cost: null });
  const sums = await database.db.selectFrom('hourly_steps').selectAll().orderBy('cost_source').execute();
  expect(sums).toMatchObject([
    { cost_source: '', executions: 1, input_tokens: 100, unpriced: 1, cost: 0 },
    {
      cost_source: 'manual',
      executions: RUNS,
      input_tokens: 140 * RUNS,
      output_tokens: 14 * RUNS,
      unpriced: RUNS,
      cost: 0.5 * RUNS,
    },
  ]);
  const counters = await database.db.selectFrom('counters').selectAll().orderBy('labels').execute();
  const labels = ['shop', 'checkout', 'look', 'gateway', 'reviewer', 'v', 'p'];
  expect(counters).toEqual([
    { metric: 'pipeline_tokens_total', labels: JSON.stringify([...labels, 'input']), value: 40 * RUNS },
    { metric: 'pipeline_tokens_total', labels: JSON.stringify([...labels, 'output']), value: 4 * RUNS },
  ]);
  expect(await mark()).toEqual([]);
}

interface Said {
  fields: object;
  msg: string;
}

const jobOf = (of: Database, { leads = true, said = [] as Said[] } = {}): UsageJob => {
  const note = (fields: object, msg: string) => void said.push({ fields, msg });
  return createUsageJob({ database: of, leads: () => leads, log: { info: note, warn: note } });
};

async function complete(job: UsageJob): Promise<void> {
  await job.start();
  await vi.waitFor(() => expect(job.done()).toBe(true), { timeout: 60_000, interval: 5 });
  await job.stop();
}

test('rows of an older version get the sums of all that was asked for their step, in the statistics and metrics too', async () => {
  await fillOldUsage(database);
  const said: Said[] = [];
  await complete(jobOf(database, { said }));
  await expectComplete();
  expect(said.at(-1)).toEqual({
    fields: { steps: RUNS + 1, changed: RUNS },
    msg: 'completed the usage of steps of an older version',
  });
  said.length = 0;
  await complete(jobOf(database, { said }));
  await expectComplete();
  expect(said).toEqual([]);
});

test('an upgrade that was killed goes on where it was', async () => {
  await fillOldUsage(database);
  await database.write((tx) => completeSome(tx, 200));
  const [position] = await mark();
  expect(position?.value).toBeGreaterThan(0);
  expect(await rowOf(`s${RUNS - 1}`)).toMatchObject({ input_tokens: 140 });
  expect(await rowOf('s0')).toMatchObject({ input_tokens: 100 });
  await database.close();
  database = await site.open();
  await complete(jobOf(database));
  await expectComplete();
});

test('others write while rows are completed, and a stop ends it between two transactions', async () => {
  await fillOldUsage(database);
  const job = jobOf(database);
  await job.start();
  expect(job.done()).toBe(false);
  await database.write(({ db }) => sql`INSERT INTO marks (name, value) VALUES ('another', 1)`.execute(db));
  expect(job.done()).toBe(false);
  await job.stop();
  expect(job.done()).toBe(false);
  expect(await rowOf('s0')).toMatchObject({ input_tokens: 100 });
  await complete(jobOf(database));
  await expectComplete();
});

test('a process that does not lead waits until the rows are complete', async () => {
  await fillOldUsage(database);
  const waits = jobOf(database, { leads: false });
  await waits.start();
  await complete(jobOf(database));
  expect(waits.done()).toBe(false);
  await vi.waitFor(() => expect(waits.done()).toBe(true), { timeout: 10_000, interval: 20 });
  await expectComplete();
});

test('two processes that both believe they lead count nothing twice', async () => {
  await fillOldUsage(database);
  const other = site.kind === 'postgres' ? await site.open() : database;
  await Promise.all([complete(jobOf(database)), complete(jobOf(other))]);
  await expectComplete();
  if (other !== database) await other.close();
});
