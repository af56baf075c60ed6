import { type Kysely, sql } from 'kysely';
import type { LabelSum, StepFacts } from '../../analytics/step-stats.ts';
import { keyName } from '../../runs/state/hourly.ts';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import type { Tables } from '../db/schema.ts';
import { stepPercentile } from './percentiles.ts';
import { all, equals, executionFilter, oneOf, type Scope, within } from './scope.ts';
import { sumSteps } from './step-sums.ts';

type StepScope = Scope & { step: string };

/** All that statistics of one step are made of, across pipelines unless the scope names one. */
export async function stepFacts(db: Kysely<Tables>, scope: StepScope): Promise<StepFacts> {
  const [model, only] = await Promise.all([modelFacts(db, scope), wholeFacts(db, scope)]);
  return { ...model, ...only };
}

/** The part of them that cannot be told apart by pipeline once it is read. */
export async function wholeFacts(db: Kysely<Tables>, scope: StepScope): Promise<Pick<StepFacts, 'running' | 'p95'>> {
  const [running, p95] = await Promise.all([runningSteps(db, scope), stepPercentile(db, scope)]);
  return { running, p95 };
}

/** The part of them that the breakdown by model is made of. */
export async function modelFacts(db: Kysely<Tables>, scope: StepScope): Promise<Pick<StepFacts, 'ended' | 'labels'>> {
  const [ended, labels] = await Promise.all([
    sumSteps(db, scope, ['pipeline', 'agent', 'provider', 'model', 'costSource', 'status']),
    stepLabels(db, scope),
  ]);
  return { ended, labels };
}

/** How many executions were labelled how. */
async function stepLabels(db: Kysely<Tables>, scope: StepScope): Promise<LabelSum[]> {
  const where = all([
    ...equals('family', scope.step),
    ...executionFilter(scope, 'judged_steps'),
    oneOf('stage', scope.stages),
    ...within('started_at', scope.window),
  ]);
  const { rows } = await sql<LabelSum>`
    select pipeline_name as pipeline, agent, provider, model, outcome, count(*) as n from judged_steps where ${where}
    group by pipeline_name, agent, provider, model, outcome`.execute(db);
  return rows.map(({ pipeline, outcome, n, ...names }) => ({
    pipeline,
    agent: keyName('agent', names.agent) || null,
    provider: keyName('provider', names.provider) || null,
    model: keyName('model', names.model) || null,
    outcome,
    n,
  }));
}

/** Executions that have not ended and started in the window: those of the runs that go on. */
async function runningSteps(db: Kysely<Tables>, scope: StepScope): Promise<number> {
  const where = all([
    oneOf('runs.status', ACTIVE_RUN_STATUSES),
    ...equals('family', scope.step),
    ...executionFilter(scope),
    oneOf('step_executions.stage', scope.stages),
    ...within('started_at', scope.window),
  ]);
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from runs join step_executions on step_executions.run_id = runs.id
    where step_executions.status = 'running' and kind not in ('parallel', 'fan_out') and ${where}`.execute(db);
  return rows[0]?.n ?? 0;
}

/** Whether a step of this name was ever executed, pruned and skipped ones too. */
export async function hasExecutions(db: Kysely<Tables>, step: string): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    select 1 as found from step_executions where family = ${step} and completed_at is not null
    union all select 1 as found from runs join step_executions on step_executions.run_id = runs.id
      where family = ${step} and ${oneOf('runs.status', ACTIVE_RUN_STATUSES)}
    union all select 1 as found from hourly_steps where step_name = ${step} limit 1`.execute(db);
  return rows.length > 0;
}
