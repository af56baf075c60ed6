import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { addTo, type Sketch } from '../../../analytics/sketch.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { all, asksForExecutions, bucketOf, endedRuns, equals, oneOf, type Scope, within } from '../scope.ts';
import { joinWaits, MS_OF, SKETCH_OF, type Timed } from '../waits.ts';
import { bucketOfDuration } from './close-days.ts';
import { closedUntil, daysIn } from './closed-days.ts';

/** Windows with no more closed days than this have exact percentiles. */
const EXACT_DAYS = 7;
/** Sketches that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;

/**
 * The durations in a long window, by pipeline or by bucket of time: closed days from their sketches, the rest from rows. Null where
 * the window is short or asks for what no sketch knows: then they are read exactly.
 */
export async function sketchesOf(
  db: Kysely<Tables>,
  scope: Scope,
  { by, timed }: { by: 'pipeline' | 'bucket'; timed: Timed },
): Promise<Map<string, Sketch> | null> {
  if (scope.team !== undefined || asksForExecutions(scope)) return null;
  const found = daysIn(scope.window, await closedUntil(db, scope));
  if (found === null || (found.days.from !== null && found.days.to - found.days.from <= EXACT_DAYS * DAY_MS))
    return null;
  const sketches = new Map<string, Sketch>();
  const sketch = (of: string | number): Sketch => {
    const known = sketches.get(String(of)) ?? new Map<number, number>();
    sketches.set(String(of), known);
    return known;
  };
  const what = (time: string) => (by === 'pipeline' ? sql.ref('pipeline_name') : bucketOf(time, scope.bucketMs));
  const stored = await storedCounts(db, { scope, days: found.days, of: what('day'), timed });
  for (const [n, { of_what: of, counts }] of stored.entries()) {
    const into = sketch(of);
    for (const [bucket, count] of Object.entries(JSON.parse(counts) as Record<string, number>))
      addTo(into, Number(bucket), count);
    if (n % IN_ONE_TURN === IN_ONE_TURN - 1) await setImmediate();
  }
  const rest = await Promise.all(found.rest.map((window) => restOf(db, { ...scope, window, timed }, what)));
  for (const { of_what: of, bucket, n } of rest.flat()) addTo(sketch(of), bucket, n);
  return sketches;
}

async function storedCounts(
  db: Kysely<Tables>,
  { scope, days, of, timed }: { scope: Scope; days: Window; of: RawBuilder<unknown>; timed: Timed },
) {
  const where = [
    scope.step === undefined ? sketchOfRuns(timed) : sql<boolean>`step_name = ${scope.step}`,
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...within('day', days),
  ];
  const { rows } = await sql<{ of_what: string | number; counts: string }>`
    select ${of} as of_what, counts from daily_durations as durations where ${all(where)}`.execute(db);
  return rows;
}

/** A pipeline's day in which no run waited for people has one sketch for its total and its machine time. */
const sketchOfRuns = (timed: Timed) =>
  timed === 'machine'
    ? sql<boolean>`(step_name = ${SKETCH_OF.machine} or (step_name = ${SKETCH_OF.total} and not exists (
        select 1 from daily_durations as machine where machine.step_name = ${SKETCH_OF.machine} and machine.day = durations.day
          and machine.pipeline_name = durations.pipeline_name and machine.stage = durations.stage)))`
    : sql<boolean>`step_name = ${SKETCH_OF[timed]}`;

type TimedScope = Scope & { timed: Timed };

interface Counted {
  of_what: string | number;
  bucket: number;
  n: number;
}

async function restOf(
  db: Kysely<Tables>,
  scope: TimedScope,
  what: (time: string) => RawBuilder<unknown>,
): Promise<Counted[]> {
  const { rows } = await (
    scope.step === undefined ? runsIn(scope, what('triggered_at')) : stepsIn(scope, what('started_at'))
  ).execute(db);
  return rows;
}

function runsIn(scope: TimedScope, of: RawBuilder<unknown>): RawBuilder<Counted> {
  const { from, where } = endedRuns(scope);
  return sql<Counted>`select of_what, bucket, count(*) as n from (
    select ${of} as of_what, ${bucketOfDuration(MS_OF[scope.timed])} as bucket
    from ${from} ${joinWaits(scope.timed, scope.window)} where ${all(where)}) as timed group by of_what, bucket`;
}

function stepsIn({ step, window, stages, pipeline }: Scope, of: RawBuilder<unknown>): RawBuilder<Counted> {
  const where = all([
    ...equals('family', step),
    oneOf('stage', stages),
    ...equals('pipeline_name', pipeline),
    ...within('started_at', window),
    isExecution(),
  ]);
  return sql<Counted>`select of_what, bucket, count(*) as n from (
    select ${of} as of_what, ${bucketOfDuration(sql`completed_at - started_at`)} as bucket from step_executions where ${where}) as timed
    group by of_what, bucket`;
}
