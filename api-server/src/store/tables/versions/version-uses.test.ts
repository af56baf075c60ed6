import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import type { StepRow } from '../../db/rows/step-row.ts';

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
  id: 'r1',
  pipeline_name: 'checkout',
  definition_hash: 'h',
  source: 'generic',
  status: 'completed',
  stage: 'production',
  triggered_at: 1,
  completed_at: 2,
  input_tokens: 0,
  output_tokens: 0,
  unpriced_steps: 0,
  warning_count: 0,
  context: '{}',
};
const step = (name: string, startedAt: number, over: Partial<StepRow> = {}) => ({
  id: name,
  run_id: 'r1',
  step_name: name,
  family: name.split('/', 1)[0] as string,
  step_index: 0,
  kind: 'step' as const,
  executor: 'gateway' as const,
  agent: 'reader',
  agent_version: 'v1',
  prompt_hash: 'p1',
  status: 'completed' as const,
  pipeline_name: 'checkout',
  stage: 'production' as const,
  started_at: startedAt,
  completed_at: startedAt + 1,
  attempts: 1,
  ...over,
});

test('a history from before versions were kept is taken over, and the texts of its agents are wanted', async () => {
  const steps = [
    step('look', 10),
    step('each/0', 20, { agent_version: 'v2' }),
    step('each/12', 30, { agent_version: 'v2' }),
    step('outside', 40, { executor: 'external', agent_version: 'any' }),
    step('person', 50, { executor: 'human', agent: null, prompt_hash: null, agent_version: null }),
    step('left-out', 60, { status: 'skipped' }),
    step('now', 70, { completed_at: null, status: 'running' }),
  ];
  await database.write(async (tx) => {
    await tx.db.insertInto('runs').values(RUN).execute();
    await tx.db.insertInto('step_executions').values(steps).execute();
    for (const text of [
      ...['prompt_templates', 'version_uses', 'agent_versions'].map((table) => `DROP TABLE ${table}`),
      `DELETE FROM schema_migrations WHERE id = '0009-versions'`,
    ])
      await sql.raw(text).execute(tx.db);
  });
  await database.close();
  database = await site.open();
  const uses = await database.db.selectFrom('version_uses').selectAll().orderBy('step_name').execute();
  expect(uses).toEqual([
    { step_name: 'each', ...VERSION, agent_version: 'v2', first_seen_at: 20, last_seen_at: 30 },
    { step_name: 'look', ...VERSION, first_seen_at: 10, last_seen_at: 10 },
    { step_name: 'outside', ...VERSION, executor: 'external', agent_version: '', first_seen_at: 40, last_seen_at: 40 },
  ]);
  const wanted = await database.db.selectFrom('agent_versions').selectAll().orderBy('agent_version').execute();
  expect(wanted.map((row) => [row.executor, row.agent, row.agent_version, row.soul_md, row.wanted])).toEqual([
    ['gateway', 'reader', 'v1', null, 1],
    ['gateway', 'reader', 'v2', null, 1],
  ]);
});

const VERSION = { prompt_hash: 'p1', executor: 'gateway', agent: 'reader', agent_version: 'v1' };
