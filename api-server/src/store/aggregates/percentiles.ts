import { type Kysely, sql } from 'kysely';
import { emptySketch, p95Of, type Sketch } from '../../analytics/sketch.ts';
import type { By, Percentile } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution } from '../db/rows/executions.ts';
import { sketchesOf } from './daily/durations.ts';
import { all, apart, bucketOf, endedRuns, equals, executionFilter, NAMES, oneOf, type Scope, within } from './scope.ts';
import { joinWaits, MS_OF, type Timed } from './waits.ts';

/** The nearest rank: the smallest duration that at least 95 of 100 do not exceed. */
const RANK = sql`(n * 95 + 99) / 100`;

/**
 * The p95 of the durations of ended runs, by pipeline, by bucket of time and of all of them; nothing for what has none. Exact over a
 * week and less, within 1% over more.
 */
export async function runPercentiles<K extends By>(
  db: Kysely<Tables>,
  scope: Scope,
  by: readonly K[],
): Promise<Record<K, Percentile[]>> {
  const [totals, waiting] = await Promise.all([
    p95s(db, scope, { by, timed: 'total' }),
    p95s(db, scope, { by, timed: 'waiting' }),
  ]);
  const machine = waiting.size === 0 ? totals : await p95s(db, scope, { by, timed: 'machine' });
  return apart(by, (one): Percentile[] =>
    [...totals.values()]
      .filter((total) => total.by === one)
      .map(({ of: name, ms }) => {
        const key = keyOf({ by: one, of: name });
        return {
          of: name,
          seconds: ms / 1000,
          machineSeconds: (machine.get(key)?.ms ?? ms) / 1000,
          waitingSeconds: secondsOf(waiting.get(key)?.ms),
        };
      }),
  );
}

const secondsOf = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : ms / 1000;

interface Asked {
  by: readonly By[];
  timed: Timed;
}

/** In milliseconds. */
interface Placed {
  by: By;
  of: string;
  ms: number;
}

const keyOf = ({ by, of }: Pick<Placed, 'by' | 'of'>): string => `${by} ${of}`;

async function p95s(db: Kysely<Tables>, scope: Scope, asked: Asked): Promise<Map<string, Placed>> {
  const sketches = await sketchesOf(db, scope, asked);
  const placed = sketches === null ? await exactly(db, scope, asked) : [...sketches].flatMap(fromSketches);
  return new Map(placed.map((one) => [keyOf(one), one]));
}

const fromSketches = ([by, sketches]: [By, ReadonlyMap<string, Sketch>]): Placed[] =>
  [...sketches].flatMap(([of, sketch]) => {
    const ms = p95Of(sketch);
    return ms === null ? [] : [{ by, of, ms }];
  });

/** The rows are read once, and put in order for each question. */
async function exactly(db: Kysely<Tables>, scope: Scope, { by, timed }: Asked): Promise<Placed[]> {
  const { from, where } = endedRuns(scope);
  const placed = by.map((one) => {
    const of = NAMES[one];
    return sql`select ${sql.lit(one)} as "by", of_what as "of", ms from (
      select ${of} as of_what, ms, row_number() over (partition by ${of} order by ms) as place, count(*) over (partition by ${of}) as n
      from timed) as placed where place = ${RANK}`;
  });
  const { rows } = await sql<Placed>`
    with timed as materialized (
      select runs.pipeline_name as pipeline, ${bucketOf('triggered_at', scope.bucketMs)} as bucket, ${MS_OF[timed]} as ms
      from ${from} ${joinWaits(timed, scope.window)} where ${all(where)})
    ${sql.join(placed, sql` union all `)}`.execute(db);
  return rows;
}

/** The same of the ended executions of one step. */
export async function stepPercentile(db: Kysely<Tables>, scope: Scope & { step: string }): Promise<number | null> {
  const sketches = await sketchesOf(db, scope, { by: ['all'], timed: 'total' });
  if (sketches !== null) return secondsOf(p95Of(sketches.get('all')?.get('') ?? emptySketch()));
  const where = [
    ...equals('family', scope.step),
    ...executionFilter(scope),
    oneOf('stage', scope.stages),
    ...within('started_at', scope.window),
  ];
  const { rows } = await sql<{ duration_ms: number }>`
    select duration_ms from (
      select completed_at - started_at as duration_ms,
        row_number() over (order by completed_at - started_at) as place, count(*) over () as n
      from step_executions where ${isExecution()} and ${all(where)}) as placed
    where place = ${RANK}`.execute(db);
  return secondsOf(rows[0]?.duration_ms);
}
