import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { BACKFILL, completeSome } from './usage-backfill.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const RUNS = 700;

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

const used = { agent: 'triage', model: 'm', provider: 'p', inputTokens: 100, outputTokens: 10 };
const verifier = { ...used, agent: 'reviewer', model: 'v', inputTokens: 40, outputTokens: 4 };
const opinion = { ...verifier, score: 0.9, summary: 'fine' };
/** As version 0.1.0 wrote it: the verifier has no price, so the step had none. */
const RAW = {
  prompt: 'x',
  verifier: opinion,
  costs: [
    { ...used, part: 'answer', cost: 0.5, source: 'manual' },
    { ...verifier, part: 'verifier', cost: null, source: null },
  ],
};

const run = (at: number) => ({
  id: `r${at}`,
  pipeline_name: 'checkout',
  definition_hash: 'h',
  source: 'generic',
  context: '{}',
  stage: 'production',
  status: 'completed',
  triggered_at: NOON,
  completed_at: NOON + 500,
  input_tokens: 140,
  output_tokens: 14,
  cost: 0.5,
  unpriced_steps: 1,
  warning_count: 0,
});

const step = (at: number, raw: object, status = 'completed') => ({
  id: `s${at}`,
  run_id: `r${at}`,
  step_name: 'look',
  family: 'look',
  step_index: 0,
  kind: 'step',
  executor: 'gateway',
  agent: 'triage',
  model: 'm',
  provider: 'p',
  status,
  pipeline_name: 'checkout',
  team: 'shop',
  stage: 'production',
  input_tokens: status === 'skipped' ? null : 100,
  output_tokens: status === 'skipped' ? null : 10,
  cost: null,
  cost_source: null,
  started_at: NOON,
  completed_at: NOON + 100,
  attempts: 1,
  raw_response: JSON.stringify(raw),
});

const hour = {
  hour: NOON,
  step_name: 'look',
  pipeline_name: 'checkout',
  stage: 'production',
  team: 'shop',
  agent: 'triage',
  provider: 'p',
  model: 'm',
  cost_source: '',
  status: 'completed',
};

/** What version 0.1.0 left behind: `RUNS` steps with a verifier, one without, and one that a rerun took over. */
async function fill(): Promise<void> {
  const own = { ...used, part: 'answer', cost: null, source: null };
  const steps = [
    ...Array.from({ length: RUNS }, (_, at) => step(at, RAW)),
    step(RUNS, { prompt: 'x', costs: [own] }),
    step(RUNS + 1, { ...RAW, loaded: { stepId: 'x', status: 'completed' } }, 'skipped'),
  ];
  await database.write(async ({ db }) => {
    for (let at = 0; at < steps.length; at += 50) {
      const some = steps.slice(at, at + 50);
      await db
        .insertInto('runs')
        .values(some.map((_, by) => run(at + by)) as never)
        .execute();
      await db
        .insertInto('step_executions')
        .values(some as never)
        .execute();
    }
    const sums = {
      executions: RUNS + 1,
      reporting: RUNS + 1,
      input_tokens: 100 * (RUNS + 1),
      output_tokens: 10 * (RUNS + 1),
    };
    await db
      .insertInto('hourly_steps')
      .values({ ...hour, ...sums, cost: 0, unpriced: RUNS + 1, duration_ms: 100 * (RUNS + 1) })
      .execute();
    await sql`INSERT INTO marks (name, value) SELECT ${BACKFILL}, max(seq) FROM runs`.execute(db);
  });
}

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

test('rows of an older version get the sums of all that was asked for their step, in the statistics and metrics too', async () => {
  await fill();
  await database.close();
  const told: object[] = [];
  database = await site.open({ log: { info: (fields: object) => void told.push(fields) } });
  await expectComplete();
  expect(told).toEqual([{ steps: RUNS + 1, changed: RUNS }]);
  await database.close();
  database = await site.open();
  await expectComplete();
});

test('an upgrade that was killed goes on where it was', async () => {
  await fill();
  await database.write(({ db }) => completeSome(db));
  const [position] = await mark();
  expect(position?.value).toBeGreaterThan(0);
  expect(await rowOf(`s${RUNS - 1}`)).toMatchObject({ input_tokens: 140 });
  expect(await rowOf('s0')).toMatchObject({ input_tokens: 100 });
  await database.close();
  database = await site.open();
  await expectComplete();
});
