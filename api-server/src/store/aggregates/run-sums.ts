import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { RunSum } from '../../analytics/sums.ts';
import { hourOf, keyName } from '../../runs/state/hourly.ts';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import type { Tables } from '../db/schema.ts';
import { closedUntil } from './daily/closed-days.ts';
import { type Spans, sumParts } from './daily/sum-parts.ts';
import { all, bucketOf, type Condition, equals, oneOf, runFilter, type Scope, within } from './scope.ts';

/** Names to group by; without one they are empty in the result. */
type RunKey = 'pipeline' | 'team';
const BOTH = ['pipeline', 'team'] as const;
type Row = Omit<RunSum, RunKey> & Partial<Record<RunKey, string | null>>;

const named = (row: Row): RunSum => ({
  ...row,
  pipeline: row.pipeline ?? '',
  team: keyName('team', row.team ?? null) || null,
});

/**
 * Ended runs that were triggered in the window, whatever agents and models they had, by status and the names of `by`; a group may come in
 * several parts.
 */
export async function sumRuns(db: Kysely<Tables>, scope: Scope, by: readonly RunKey[] = BOTH): Promise<RunSum[]> {
  const parts = await partsOf(db, scope, by);
  if (parts.length === 0) return [];
  const { rows } = await sql<Row>`${sql.join(parts, sql` union all `)}`.execute(db);
  return rows.map(named);
}

async function partsOf(db: Kysely<Tables>, scope: Scope, by: readonly RunKey[]): Promise<RawBuilder<Row>[]> {
  const { sums, edges } = sumParts(scope.window, await closedUntil(db, scope));
  const names = [
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...equals('team', scope.team),
  ];
  return [
    ...sums.map(({ time, window }) => fromSums(scope, { time, by, where: [...names, ...within(time, window)] })),
    ...edges.map((edge) => fromRows(scope, by, edge)),
  ];
}

const COLUMNS = { pipeline: 'runs.pipeline_name', team: 'runs.team' } as const satisfies Record<RunKey, string>;

interface Added {
  time: string;
  by: readonly RunKey[];
  /** What is added up. */
  sums: RawBuilder<unknown>;
  /** Rows of runs or their sums, under the name `runs`. */
  from: RawBuilder<unknown>;
  where: Condition[];
}

const added = ({ bucketMs }: Scope, { time, by, sums, from, where }: Added): RawBuilder<Row> => {
  const names = by.map((key) => sql`${sql.ref(COLUMNS[key])} as ${sql.ref(key)}`);
  const keys = by.map((key) => sql.ref(COLUMNS[key]));
  return sql`select ${sql.join([sql`${bucketOf(time, bucketMs)} as bucket`, ...names])}, status, ${sums}
    from ${from} where ${all(where)} group by ${sql.join([sql`bucket`, ...keys])}, status`;
};

const TABLES = { week: 'weekly_runs', day: 'daily_runs', hour: 'hourly_runs' } as const;

interface Summed {
  time: Spans['time'];
  by: readonly RunKey[];
  where: Condition[];
}

const fromSums = (scope: Scope, { time, ...asked }: Summed): RawBuilder<Row> =>
  added(scope, {
    ...asked,
    time,
    sums: sql`sum(runs) as runs, sum(duration_ms) as "durationMs"`,
    from: sql`${sql.table(TABLES[time])} as runs`,
  });

const COUNTED = sql`count(*) as runs, sum(completed_at - triggered_at) as "durationMs"`;

/** The rows of a part of an hour, found by the names that its sums have. */
function fromRows(scope: Scope, by: readonly RunKey[], edge: { from: number; to: number }): RawBuilder<Row> {
  const seen = all([
    sql<boolean>`hour = ${hourOf(edge.from)}`,
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
  ]);
  return added(scope, {
    time: 'triggered_at',
    by,
    sums: COUNTED,
    from: sql`(select distinct pipeline_name, stage from hourly_runs where ${seen}) as seen
      join runs on runs.pipeline_name = seen.pipeline_name and runs.stage = seen.stage`,
    where: [
      sql<boolean>`completed_at is not null`,
      ...within('triggered_at', edge),
      ...equals('runs.team', scope.team),
    ],
  });
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
