import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS } from '../../runs/state/hourly.ts';
import { hourlyRun, hourlyStep } from './rows/hourly-rows.ts';
import type { Database } from './database.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

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

const RUN = {
  pipeline_name: 'checkout',
  stage: 'production',
  status: 'completed',
  definition_hash: 'h',
  source: 'generic',
  context: '{}',
};
const COUNTS = { input_tokens: 0, output_tokens: 0, unpriced_steps: 0, warning_count: 0 };

interface Given {
  team?: string;
  status?: string;
  triggered_at?: number;
  completed_at?: number | null;
}
const run = (id: string, given: Given = {}) => ({
  ...RUN,
  ...COUNTS,
  id,
  team: null,
  triggered_at: NOON,
  completed_at: NOON + 500,
  ...given,
});

const STEP = {
  run_id: 'r1',
  step_index: 0,
  kind: 'step',
  executor: 'gateway',
  agent: 'reader',
  model: 'small',
  provider: 'demo',
  status: 'completed',
  pipeline_name: 'checkout',
  team: 'payments',
  stage: 'production',
  input_tokens: 10,
  output_tokens: 5,
  cost: 0.25,
  cost_source: 'manual',
  started_at: NOON + 1,
  completed_at: NOON + 101,
  attempts: 1,
};
type Step = typeof STEP;
const step = (step_name: string, given: { [key in keyof Step]?: Step[key] | null } = {}) => ({
  ...STEP,
  id: step_name,
  step_name,
  ...given,
});

/** A history as every version before wrote it: rows, and no sums. */
const RUNS = [
  run('r1'),
  run('r2', { triggered_at: NOON + HOUR_MS - 1, completed_at: NOON + HOUR_MS + 1, team: 'payments' }),
  run('r3', { triggered_at: NOON + HOUR_MS, status: 'failed', completed_at: NOON + HOUR_MS + 7 }),
  run('r4', { status: 'running', completed_at: null }),
];
const STEPS = [
  step('look'),
  step('per-service2', {
    kind: 'fan_out',
    executor: 'fan_out',
    agent: null,
    model: null,
    input_tokens: null,
    output_tokens: null,
    cost: null,
    cost_source: null,
  }),
  step('per-service2/0', { kind: 'fan_out_branch', cost: null, cost_source: null }),
  step('per-service2/17', { kind: 'fan_out_branch', cost: null, cost_source: null }),
  step('left-out', { status: 'skipped' }),
  step('call', {
    executor: 'webhook',
    agent: null,
    provider: null,
    model: null,
    input_tokens: null,
    output_tokens: null,
    cost: null,
    cost_source: null,
  }),
  step('now', { status: 'running', completed_at: null }),
  step('long', { model: 'm'.repeat(300) }),
];

const store = () =>
  database.write(async ({ db }) => {
    await db.insertInto('runs').values(RUNS).execute();
    await db
      .insertInto('step_executions')
      .values(STEPS.map((row) => ({ ...row, family: '' })) as never)
      .execute();
  });

const sums = async () => ({
  runs: await database.db.selectFrom('hourly_runs').selectAll().orderBy('hour').orderBy('team').execute(),
  steps: await database.db.selectFrom('hourly_steps').selectAll().orderBy('step_name').execute(),
});

test('the ends of runs and steps add to one row of their hour, whatever shares a transaction', async () => {
  const ended = RUNS.filter(({ completed_at }) => completed_at !== null) as (ReturnType<typeof run> & {
    completed_at: number;
  })[];
  await database.write(async (tx) => {
    for (const row of ended) tx.sum({ table: 'hourly_runs', row: hourlyRun(row) });
    tx.sum({ table: 'hourly_steps', row: hourlyStep(step('look') as never) });
    tx.sum({ table: 'hourly_steps', row: hourlyStep(step('look') as never) });
  });
  await database.write((tx) => tx.sum({ table: 'hourly_steps', row: hourlyStep(step('look') as never) }));
  const { runs, steps } = await sums();
  expect(runs.map((row) => [row.hour - NOON, row.team, row.status, row.runs, row.duration_ms])).toEqual([
    [0, '', 'completed', 1, 500],
    [0, 'payments', 'completed', 1, 2],
    [HOUR_MS, '', 'failed', 1, 7],
  ]);
  expect(steps).toHaveLength(1);
  expect(steps[0]).toMatchObject({
    executions: 3,
    reporting: 3,
    input_tokens: 30,
    output_tokens: 15,
    cost: 0.75,
    unpriced: 0,
    duration_ms: 300,
  });
});

test('a transaction that fails leaves no sums, and none for the next one', async () => {
  const failing = database.write(async (tx) => {
    tx.sum({ table: 'hourly_steps', row: hourlyStep(step('look') as never) });
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await database.write((tx) => tx.sum({ table: 'hourly_steps', row: hourlyStep(step('look') as never) }));
  expect((await sums()).steps.map(({ executions }) => executions)).toEqual([1]);
});

test('a history from before the sums is summed as its ends would have been', async () => {
  await store();
  await database.write(async ({ db }) => {
    for (const text of [
      'DROP TABLE hourly_runs',
      'DROP TABLE hourly_steps',
      'DROP INDEX runs_ended',
      'DROP INDEX step_executions_ended',
      'ALTER TABLE step_executions DROP COLUMN family',
      `DELETE FROM schema_migrations WHERE id = '0008-hourly-sums'`,
    ])
      await sql.raw(text).execute(db);
  });
  await database.close();
  database = await site.open();
  const migrated = await sums();
  await database.write(async (tx) => {
    await tx.db.deleteFrom('hourly_runs').execute();
    await tx.db.deleteFrom('hourly_steps').execute();
    for (const row of RUNS)
      if (row.completed_at !== null) tx.sum({ table: 'hourly_runs', row: hourlyRun(row as never) });
    for (const row of STEPS) {
      const counts = row.completed_at !== null && row.status !== 'skipped' && row.kind !== 'fan_out';
      if (counts) tx.sum({ table: 'hourly_steps', row: hourlyStep(row as never) });
    }
  });
  expect(migrated).toEqual(await sums());
  const families = await database.db
    .selectFrom('step_executions')
    .select('family')
    .distinct()
    .orderBy('family')
    .execute();
  expect(families.map(({ family }) => family)).toEqual(['call', 'left-out', 'long', 'look', 'now', 'per-service2']);
  expect(migrated.steps.map((row) => [row.step_name, row.executions, row.unpriced, row.reporting])).toEqual([
    ['call', 1, 0, 0],
    ['long', 1, 0, 1],
    ['look', 1, 0, 1],
    ['per-service2', 2, 2, 2],
  ]);
});

test('names that no database can hold are told apart from nobody and add up', async () => {
  const odd = step('look', { model: 'half \ud800 and nul \0' }) as never;
  const other = step('look', { model: 'half \ud801 and nul \0' }) as never;
  await database.write(async (tx) => {
    tx.sum({ table: 'hourly_steps', row: hourlyStep(odd) });
    tx.sum({ table: 'hourly_steps', row: hourlyStep(other) });
  });
  expect((await sums()).steps.map(({ model, executions }) => [model, executions])).toEqual([
    ['half \uFFFD and nul \uFFFD', 2],
  ]);
});
