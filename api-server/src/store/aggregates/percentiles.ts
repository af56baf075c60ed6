import { type Kysely, sql } from 'kysely';
import { p95Of } from '../../analytics/sketch.ts';
import type { Percentile } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution } from '../db/rows/executions.ts';
import { sketchesOf } from './daily/durations.ts';
import { all, bucketOf, endedRuns, equals, executionFilter, oneOf, type Scope, within } from './scope.ts';
import { joinWaits, MS_OF, type Timed } from './waits.ts';

interface Row {
  of_what: string | number;
  duration_ms: number;
}

/** The nearest rank: the smallest duration that at least 95 of 100 do not exceed. */
const RANK = sql`(n * 95 + 99) / 100`;

/**
 * The p95 of the durations of ended runs, by pipeline or by bucket of time; nothing for what has none. Exact over a week and less,
 * within 1 % over more.
 */
export async function runPercentiles(
  db: Kysely<Tables>,
  scope: Scope,
  by: 'pipeline' | 'bucket',
): Promise<Percentile[]> {
  const [totals, waiting] = await Promise.all([
    p95s(db, scope, { by, timed: 'total' }),
    p95s(db, scope, { by, timed: 'waiting' }),
  ]);
  const machine = waiting.size === 0 ? totals : await p95s(db, scope, { by, timed: 'machine' });
  return [...totals].map(([of, total]) => ({
    of,
    seconds: total / 1000,
    machineSeconds: (machine.get(of) ?? total) / 1000,
    waitingSeconds: secondsOf(waiting.get(of)),
  }));
}

const secondsOf = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : ms / 1000;

interface Asked {
  by: 'pipeline' | 'bucket';
  timed: Timed;
}

/** In milliseconds. */
async function p95s(db: Kysely<Tables>, scope: Scope, { by, timed }: Asked): Promise<Map<string, number>> {
  const sketches = await sketchesOf(db, scope, { by, timed });
  if (sketches !== null)
    return new Map([...sketches].flatMap(([of, sketch]) => [[of, p95Of(sketch)] as const]).filter(isKnown));
  const of = by === 'pipeline' ? sql`runs.pipeline_name` : bucketOf('triggered_at', scope.bucketMs);
  const { from, where } = endedRuns(scope);
  const { rows } = await sql<Row>`
    select of_what, duration_ms from (
      select ${of} as of_what, ${MS_OF[timed]} as duration_ms,
        row_number() over (partition by ${of} order by ${MS_OF[timed]}) as place,
        count(*) over (partition by ${of}) as n
      from ${from} ${joinWaits(timed, scope.window)} where ${all(where)}) as placed
    where place = ${RANK}`.execute(db);
  return new Map(rows.map(({ of_what: name, duration_ms: ms }) => [String(name), ms]));
}

const isKnown = (entry: readonly [string, number | null]): entry is readonly [string, number] => entry[1] !== null;

/** The same of the ended executions of one step. */
export async function stepPercentile(db: Kysely<Tables>, scope: Scope & { step: string }): Promise<number | null> {
  const sketches = await sketchesOf(db, scope, { by: 'bucket', timed: 'total' });
  if (sketches !== null) return secondsOf(p95Of(sketches.get('0') ?? new Map()));
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
  return secondsOf(rows[0]?.duration_ms);
}
