import { type Kysely, sql } from 'kysely';
import { p95Of, type Sketch } from '../../analytics/sketch.ts';
import type { Percentile } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution } from '../db/rows/executions.ts';
import { sketchesOf } from './daily/durations.ts';
import { all, bucketOf, equals, executionFilter, oneOf, runFilter, type Scope, within } from './scope.ts';

interface Row {
  of_what: string | number;
  duration_ms: number;
}

/** The nearest rank: the smallest duration that at least 95 of 100 do not exceed. */
const RANK = sql`(n * 95 + 99) / 100`;

const toPercentile = ({ of_what, duration_ms: ms }: Row): Percentile => ({
  of: String(of_what),
  seconds: ms / 1000,
});

/**
 * The p95 of the durations of ended runs, by pipeline or by bucket of time; nothing for what has none. Exact over a week and less,
 * within 1 % over more.
 */
export async function runPercentiles(
  db: Kysely<Tables>,
  scope: Scope,
  by: 'pipeline' | 'bucket',
): Promise<Percentile[]> {
  const sketches = await sketchesOf(db, scope, by);
  if (sketches !== null) return [...sketches].flatMap(([of, sketch]) => percentileOf(of, sketch) ?? []);
  const of = by === 'pipeline' ? sql`pipeline_name` : bucketOf('triggered_at', scope.bucketMs);
  const where = [...runFilter(scope), ...within('triggered_at', scope.window)];
  const { rows } = await sql<Row>`
    select of_what, duration_ms from (
      select ${of} as of_what, completed_at - triggered_at as duration_ms,
        row_number() over (partition by ${of} order by completed_at - triggered_at) as place,
        count(*) over (partition by ${of}) as n
      from runs where completed_at is not null and ${all(where)}) as placed
    where place = ${RANK}`.execute(db);
  return rows.map(toPercentile);
}

function percentileOf(of: string, sketch: Sketch): Percentile | null {
  const ms = p95Of(sketch);
  return ms === null ? null : { of, seconds: ms / 1000 };
}

/** The same of the ended executions of one step. */
export async function stepPercentile(db: Kysely<Tables>, scope: Scope & { step: string }): Promise<number | null> {
  const sketches = await sketchesOf(db, scope, 'bucket');
  if (sketches !== null) return percentileOf('', sketches.get('0') ?? new Map())?.seconds ?? null;
  const where = [
    ...equals('family', scope.step),
    ...executionFilter(scope),
    oneOf('stage', scope.stages),
    ...within('started_at', scope.window),
  ];
  const { rows } = await sql<Row>`
    select 0 as of_what, duration_ms from (
      select completed_at - started_at as duration_ms,
        row_number() over (order by completed_at - started_at) as place, count(*) over () as n
      from step_executions where ${isExecution()} and ${all(where)}) as placed
    where place = ${RANK}`.execute(db);
  return rows[0] === undefined ? null : toPercentile(rows[0]).seconds;
}
