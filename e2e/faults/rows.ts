import { z } from 'zod';
import type { Database } from '../../api-server/src/store/db/database.ts';
import { isPacked } from '../../api-server/src/store/db/bodies/packed-body.ts';
import { contextOf, withTexts } from '../../api-server/src/store/tables/bodies/run-bodies.ts';
import { checkRollUps } from '../../api-server/src/store/aggregates/roll-up-check.ts';

/** The rows that a round is judged by. */
export interface Rows {
  runs: {
    id: string;
    pipeline: string;
    status: string;
    parent: string | null;
    ended: boolean;
    waits: boolean;
    scheduledFor: string | null;
  }[];
  steps: { runId: string; name: string; status: string; ended: boolean; lost: boolean }[];
  pendingApprovals: string[];
  shortfalls: string[];
}

const LIVE = new Set(['queued', 'running', 'interrupted']);
const Context = z.object({ metadata: z.object({ scheduled_for: z.string().optional() }) });

export async function readRows({ db }: Pick<Database, 'db'>): Promise<Rows> {
  const runs = await db.selectFrom('runs').selectAll().execute();
  const contexts = await Promise.all(runs.map((run) => contextOf(db, run)));
  const steps = await db.selectFrom('step_executions').selectAll().execute();
  const whole = await withTexts(db, steps);
  const pending = await db.selectFrom('approvals').select('id').where('status', '=', 'pending').execute();
  return {
    runs: runs.map((run, at) => ({
      id: run.id,
      pipeline: run.pipeline_name,
      status: run.status,
      parent: run.parent_run_id,
      ended: run.completed_at !== null,
      waits: run.waiting_on !== null,
      scheduledFor: Context.parse(contexts[at]).metadata.scheduled_for ?? null,
    })),
    steps: steps.map((step, at) => ({
      runId: step.run_id,
      name: step.step_name,
      status: step.status,
      ended: step.completed_at !== null,
      lost: isPacked(step.raw_response) && !whole[at]?.raw_response,
    })),
    pendingApprovals: pending.map(({ id }) => id),
    shortfalls: ((await checkRollUps(db)) ?? []).map(
      ({ metric, labels, rolledUp, counted }) => `${metric}{${labels.join()}} is ${rolledUp}, rows say ${counted}`,
    ),
  };
}

/** Checks the invariants of all rows while nothing is executing; one line for each violation. */
export function inconsistencies({ runs, steps, pendingApprovals, shortfalls }: Rows): string[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const fires = runs.flatMap(({ pipeline, scheduledFor }) => (scheduledFor ? [`${pipeline} at ${scheduledFor}`] : []));
  return [
    ...runs.filter(({ status }) => LIVE.has(status)).map((run) => `run ${run.id} of ${run.pipeline} is ${run.status}`),
    ...runs
      .filter(({ ended, status }) => ended === LIVE.has(status))
      .map((run) => `run ${run.id}: ${run.status} and its end differ`),
    ...runs.filter(({ waits }) => waits).map((run) => `run ${run.id} ended and waits`),
    ...runs.filter(({ parent }) => parent !== null && !byId.has(parent)).map((run) => `run ${run.id} has no parent`),
    ...steps
      .filter(({ status, ended }) => status === 'running' || !ended)
      .map((step) => `step ${step.name} of ${byId.get(step.runId)?.pipeline ?? 'no run'} is ${step.status}`),
    ...steps.filter(({ lost }) => lost).map((step) => `step ${step.name} of run ${step.runId} lost its answer`),
    ...pendingApprovals.map((id) => `approval ${id} is pending`),
    ...fires.filter((fire, at) => fires.indexOf(fire) < at).map((fire) => `two runs of ${fire}`),
    ...shortfalls,
  ];
}

/** A roll-up may be above its rows only where something was counted twice: nothing is pruned in a test. */
export async function countedTwice({ db }: Pick<Database, 'db'>): Promise<string[]> {
  const counters = await db.selectFrom('counters').selectAll().execute();
  const total = (metric: string) =>
    counters.filter((counter) => counter.metric === metric).reduce((sum, { value }) => sum + value, 0);
  const { runs, steps, groups, hourlyRuns, hourlySteps } = await db
    .selectNoFrom((from) => [
      from
        .selectFrom('runs')
        .select(({ fn }) => fn.countAll().as('n'))
        .where('status', 'not in', [...LIVE])
        .as('runs'),
      from
        .selectFrom('step_executions')
        .select(({ fn }) => fn.countAll().as('n'))
        .where('status', 'not in', ['running', 'skipped'])
        .where('kind', 'not in', ['parallel', 'fan_out'])
        .as('steps'),
      from
        .selectFrom('approvals')
        .select(({ fn }) => fn.countAll().as('n'))
        .where('status', 'in', ['approved', 'rejected'])
        .as('groups'),
      from
        .selectFrom('hourly_runs')
        .select(({ fn }) => fn.sum('runs').as('n'))
        .as('hourlyRuns'),
      from
        .selectFrom('hourly_steps')
        .select(({ fn }) => fn.sum('executions').as('n'))
        .as('hourlySteps'),
    ])
    .executeTakeFirstOrThrow();
  const pairs = [
    ['pipeline_runs_total', runs],
    ['pipeline_steps_total', steps],
    ['pipeline_step_duration_seconds', steps],
    ['human_approval_decisions_total', groups],
  ] as const;
  const hours = [
    ['hourly_runs', Number(hourlyRuns), Number(runs)],
    ['hourly_steps', Number(hourlySteps), Number(steps)],
  ] as const;
  return [...pairs.map(([metric, rows]) => [metric, total(metric), Number(rows)] as const), ...hours]
    .filter(([, counted, rows]) => counted !== rows)
    .map(([name, counted, rows]) => `${name} is ${counted} for ${rows} rows`);
}
