import { type RawBuilder, sql } from 'kysely';
import type { Window } from '../../analytics/window.ts';
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
  oneOf('runs.stage', scope.stages),
  ...equals('runs.pipeline_name', scope.pipeline),
  ...equals('runs.team', scope.team),
  ...(asksForExecutions(scope) ? [hadOne(scope, 'runs.id')] : []),
];

/** The run whose id is in `column` had an execution of the agent and the model. */
export const hadOne = ({ agent, model }: Scope, column: string): Condition => sql`exists (select 1 from step_executions
  where step_executions.run_id = ${sql.ref(column)} and ${isWork()} and ${all([...equals('agent', agent), ...equals('model', model)])})`;

/** The rows of `step_executions` in a scope, but for the step, the stage and the window, by which they are looked up. */
export const executionFilter = ({ pipeline, team, agent, model }: Scope): Condition[] => [
  ...equals('step_executions.pipeline_name', pipeline),
  ...equals('step_executions.team', team),
  ...equals('step_executions.agent', agent),
  ...equals('step_executions.model', model),
];

/** Where the bucket begins that the time in `column` is in; zero where there is one. */
export const bucketOf = (column: string, bucketMs: number | undefined): RawBuilder<number> =>
  bucketMs === undefined ? sql`0` : sql`${sql.ref(column)} - ${sql.ref(column)} % ${sql.lit(bucketMs)}`;
