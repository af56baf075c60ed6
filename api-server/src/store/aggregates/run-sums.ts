import { type Kysely, sql } from 'kysely';
import type { RunSum } from '../../analytics/sums.ts';
import { hourOf, keyName } from '../../runs/state/hourly.ts';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import type { Tables } from '../db/schema.ts';
import { closedUntil } from './daily/closed-days.ts';
import { sumParts } from './daily/sum-parts.ts';
import {
  all,
  asksForExecutions,
  bucketOf,
  endedRuns,
  type Condition,
  equals,
  oneOf,
  runFilter,
  type Scope,
  within,
} from './scope.ts';

const named = (sum: RunSum): RunSum => ({ ...sum, team: keyName('team', sum.team) || null });

/** Ended runs that were triggered in the window, by pipeline, team and status; a group may come in several parts. */
export async function sumRuns(db: Kysely<Tables>, scope: Scope): Promise<RunSum[]> {
  // Sums of runs know no agents: those who had one are counted from their rows.
  if (asksForExecutions(scope)) return (await countRuns(db, scope)).map(named);
  const { days, hours, edges } = sumParts(scope.window, await closedUntil(db, scope));
  const names = [
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...equals('team', scope.team),
  ];
  const parts = await Promise.all([
    days === null ? [] : fromSums(db, scope, { time: 'day', where: [...names, ...within('day', days)] }),
    ...hours.map((part) => fromSums(db, scope, { time: 'hour', where: [...names, ...within('hour', part)] })),
    ...edges.map((edge) => fromRows(db, scope, edge)),
  ]);
  return parts.flat().map(named);
}

interface Sums {
  time: 'day' | 'hour';
  where: Condition[];
}

async function fromSums(db: Kysely<Tables>, { bucketMs }: Scope, { time, where }: Sums): Promise<RunSum[]> {
  const { rows } = await sql<RunSum>`
    select ${bucketOf(time, bucketMs)} as bucket, pipeline_name as pipeline, team, status,
      sum(runs) as runs, sum(duration_ms) as "durationMs"
    from ${sql.table(time === 'day' ? 'daily_runs' : 'hourly_runs')} where ${all(where)}
    group by bucket, pipeline_name, team, status`.execute(db);
  return rows;
}

/** The rows of a part of an hour, found by the names that its sums have. */
async function fromRows(db: Kysely<Tables>, scope: Scope, edge: { from: number; to: number }): Promise<RunSum[]> {
  const seen = all([
    sql<boolean>`hour = ${hourOf(edge.from)}`,
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
  ]);
  const { rows } = await sql<RunSum>`
    select ${bucketOf('triggered_at', scope.bucketMs)} as bucket, runs.pipeline_name as pipeline, team, status,
      count(*) as runs, sum(completed_at - triggered_at) as "durationMs"
    from (select distinct pipeline_name, stage from hourly_runs where ${seen}) as seen
    join runs on runs.pipeline_name = seen.pipeline_name and runs.stage = seen.stage
    where completed_at is not null and ${all([...within('triggered_at', edge), ...equals('team', scope.team)])}
    group by bucket, runs.pipeline_name, team, status`.execute(db);
  return rows;
}

async function countRuns(db: Kysely<Tables>, scope: Scope): Promise<RunSum[]> {
  const { from, where } = endedRuns(scope);
  const { rows } = await sql<RunSum>`
    select ${bucketOf('triggered_at', scope.bucketMs)} as bucket, runs.pipeline_name as pipeline, team, status,
      count(*) as runs, sum(completed_at - triggered_at) as "durationMs"
    from ${from} where ${all(where)}
    group by bucket, runs.pipeline_name, team, status`.execute(db);
  return rows;
}

/**
 * Runs that have not ended and were triggered in the window. There are few: they are found by their status, and the names in the
 * scope, of which an index may hold a long history, only choose among them.
 */
export async function activeRuns(db: Kysely<Tables>, scope: Scope): Promise<RunSum[]> {
  const { rows } = await sql<RunSum>`
    with active as materialized (select id, triggered_at, pipeline_name, stage, team, status from runs
      where ${oneOf('runs.status', ACTIVE_RUN_STATUSES)})
    select ${bucketOf('triggered_at', scope.bucketMs)} as bucket, pipeline_name as pipeline, team, status,
      count(*) as runs, 0 as "durationMs"
    from active as runs where ${all([...runFilter(scope), ...within('triggered_at', scope.window)])}
    group by bucket, pipeline_name, team, status`.execute(db);
  return rows.map(named);
}
