import { type RawBuilder, sql } from 'kysely';
import type { By } from '../../analytics/sums.ts';
import type { Window } from '../../analytics/window.ts';
import { hourOf, keyName } from '../../runs/state/hourly.ts';
import type { Stage } from '../../runs/state/model.ts';
import { isWork } from '../db/rows/executions.ts';

/** Which runs or executions are summed; without a name those of all. */
export interface Scope {
  window: Window;
  /** Not empty. */
  stages: readonly Stage[];
  pipeline?: string;
  /** Of fan-out branches the name before the slash. */
  step?: string;
  team?: string;
  /** Executions of this agent and of this model, and runs that had one. */
  agent?: string;
  model?: string;
  /** Width in milliseconds of the buckets of time to sum apart; absent for one sum. */
  bucketMs?: number;
}

export type Condition = RawBuilder<boolean>;

export const all = (conditions: readonly Condition[]): Condition => sql.join(conditions, sql` and `);

/** The part of a window that `column` holds the time of. */
export const within = (column: string, { from, to }: Window): Condition[] => [
  ...(from === null ? [] : [sql<boolean>`${sql.ref(column)} >= ${from}`]),
  ...(to === null ? [] : [sql<boolean>`${sql.ref(column)} < ${to}`]),
];

export const oneOf = (column: string, values: readonly string[]): Condition =>
  sql`${sql.ref(column)} in (${sql.join(values)})`;

export const equals = (column: string, value: string | undefined): Condition[] =>
  value === undefined ? [] : [sql<boolean>`${sql.ref(column)} = ${value}`];

export const asksForExecutions = ({ agent, model }: Scope): boolean => agent !== undefined || model !== undefined;

/** The rows of `runs` in a scope, but for the window. */
export const runFilter = (scope: Scope): Condition[] => [
  ...runNames(scope),
  ...(asksForExecutions(scope) ? [hadOne(scope, 'runs.id')] : []),
];

const runNames = ({ stages, pipeline, team }: Scope): Condition[] => [
  oneOf('runs.stage', stages),
  ...equals('runs.pipeline_name', pipeline),
  ...equals('runs.team', team),
];

/**
 * The ended runs of a scope, whatever agents and models they had, for a `from`. They are found by the names that the sums of the window's hours have: an index holds them in
 * order of these names, and without them all of it is read.
 */
export const endedRuns = (scope: Scope): { from: RawBuilder<unknown>; where: Condition[] } => ({
  from: byPipelines(scope),
  where: [sql<boolean>`runs.completed_at is not null`, ...runNames(scope), ...within('triggered_at', scope.window)],
});

export const hoursOf = ({ from, to }: Window): Window => ({ from: from === null ? null : hourOf(from), to });

function byPipelines({ window, stages, pipeline, team }: Scope): RawBuilder<unknown> {
  const names = [...equals('pipeline_name', pipeline), ...equals('team', keyed('team', team))];
  const seen = all([oneOf('stage', stages), ...names, ...within('hour', hoursOf(window))]);
  return sql`(select distinct pipeline_name as name, stage as at_stage from hourly_runs where ${seen}) as seen
    join runs on runs.pipeline_name = seen.name and runs.stage = seen.at_stage`;
}

/** A name as sums have it. */
export const keyed = (kind: 'team' | 'agent' | 'model', name: string | undefined): string | undefined =>
  name === undefined ? undefined : keyName(kind, name);

/** The run whose id is in `column` had an execution of the agent and the model. */
export const hadOne = ({ agent, model }: Scope, column: string): Condition => sql`exists (select 1 from step_executions
  where step_executions.run_id = ${sql.ref(column)} and ${isWork()} and ${all([...equals('agent', agent), ...equals('model', model)])})`;

/** The rows of `step_executions`, or of a table with its columns, in a scope, but for the step, the stage and the window, by which they are looked up. */
export const executionFilter = (
  { pipeline, team, agent, model }: Scope,
  table: 'step_executions' | 'judged_steps' = 'step_executions',
): Condition[] => [
  ...equals(`${table}.pipeline_name`, pipeline),
  ...equals(`${table}.team`, team),
  ...equals(`${table}.agent`, agent),
  ...equals(`${table}.model`, model),
];

/** The text that tells rows with the columns `pipeline` and `bucket` apart. */
export const NAMES: Readonly<Record<By, RawBuilder<string>>> = {
  pipeline: sql`pipeline`,
  bucket: sql`cast(bucket as text)`,
  all: sql`cast('' as text)`,
};

/** What was found by each, from one list of rows. */
export const apart = <K extends By, T>(by: readonly K[], of: (one: K) => T[]): Record<K, T[]> =>
  Object.fromEntries(by.map((one) => [one, of(one)])) as Record<K, T[]>;

/** Where the bucket begins that the time in `column` is in; zero where there is one. */
export const bucketOf = (column: string, bucketMs: number | undefined): RawBuilder<number> =>
  bucketMs === undefined ? sql`0` : sql`${sql.ref(column)} - ${sql.ref(column)} % ${sql.lit(bucketMs)}`;
