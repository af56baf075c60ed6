import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { RunTimes } from '../../../analytics/run-tally.ts';
import { DAY_MS } from '../../../analytics/window.ts';
import { keyName } from '../../../runs/state/hourly.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import {
  all,
  asksForExecutions,
  type Condition,
  endedRuns,
  equals,
  hoursOf,
  keyed,
  oneOf,
  type Scope,
  within,
} from '../scope.ts';
import { joinWaits } from '../waits.ts';
import type { StagedKind, UsedRun } from './packed-runs.ts';

interface Row extends StagedKind {
  triggeredAt: number;
  took: number;
  waited: number | null;
}

/** The stored runs of a window that ended and, where an agent or a model is asked for, had an execution of it. */
export async function usedRuns(db: Kysely<Tables>, scope: Scope): Promise<Omit<UsedRun, 'uses'>[]> {
  const { from, where } = endedRuns(scope);
  const { rows } = await sql<Row>`
    select runs.pipeline_name as pipeline, runs.stage as stage, runs.team as team, runs.status as status, triggered_at as "triggeredAt",
      completed_at - triggered_at as took, waited_ms as waited
    from ${asksForExecutions(scope) ? byExecutions(scope) : from} ${joinWaits('machine', scope)} where ${all(where)}`.execute(
    db,
  );
  const kinds = new Map<string, StagedKind>();
  return rows.map(({ triggeredAt, took, waited, ...kind }) => {
    const key = JSON.stringify(kind);
    const shared = kinds.get(key) ?? { ...kind, team: keyName('team', kind.team) || null };
    kinds.set(key, shared);
    return { kind: shared, times: { triggeredAt, took, waited } satisfies RunTimes };
  });
}

/** What no run of the window started after its end. */
function startedBy(scope: Scope): Condition[] {
  if (scope.window.to === null) return [];
  const { from, where } = endedRuns(scope);
  // Clocks of replicas differ by less than a day.
  return [sql`started_at < (select max(completed_at) + ${DAY_MS} from ${from} where ${all(where)})`];
}

/** A step may start after the window in which its run was triggered. */
function byExecutions(scope: Scope): RawBuilder<unknown> {
  const { window, stages, pipeline, team, agent, model } = scope;
  const since = { from: window.from, to: null };
  const names = [
    ...equals('pipeline_name', pipeline),
    ...equals('team', keyed('team', team)),
    ...equals('agent', keyed('agent', agent)),
    ...equals('model', keyed('model', model)),
  ];
  const seen = all([oneOf('stage', stages), ...names, ...within('hour', hoursOf(since))]);
  const had = all([
    isExecution(),
    ...equals('agent', agent),
    ...equals('model', model),
    ...within('started_at', since),
    ...startedBy(scope),
  ]);
  return sql`(select distinct run_id from (select distinct step_name as name, stage as at_stage from hourly_steps where ${seen}) as seen
    join step_executions on family = seen.name and step_executions.stage = seen.at_stage where ${had}) as had
    join runs on runs.id = had.run_id`;
}
