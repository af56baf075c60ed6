import { type RawBuilder, sql } from 'kysely';
import type { Window } from '../../analytics/window.ts';
import type { Stage } from '../../runs/state/model.ts';

/** Which runs or executions are summed; without a name those of all. */
export interface Scope {
  window: Window;
  /** Not empty. */
  stages: readonly Stage[];
  pipeline?: string;
  /** Of fan-out branches the name before the slash. */
  step?: string;
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

/** Where the bucket begins that the time in `column` is in; zero where there is one. */
export const bucketOf = (column: string, bucketMs: number | undefined): RawBuilder<number> =>
  bucketMs === undefined ? sql`0` : sql`${sql.ref(column)} - ${sql.ref(column)} % ${sql.lit(bucketMs)}`;
