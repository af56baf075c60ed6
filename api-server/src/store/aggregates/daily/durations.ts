import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { addStored, emptySketch, type Sketch } from '../../../analytics/sketch.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { all, asksForExecutions, bucketOf, endedRuns, equals, oneOf, type Scope, within } from '../scope.ts';
import { joinWaits, MS_OF, SKETCH_OF, type Timed } from '../waits.ts';
import { bucketOfDuration } from './close-days.ts';
import { closedUntil, daysIn } from './closed-days.ts';

/** Windows with no more closed days than this have exact percentiles. */
const EXACT_DAYS = 7;
/** Texts that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;

/** What durations are told apart by: the pipeline, the bucket of time, or nothing. */
export type By = 'pipeline' | 'bucket' | 'all';

/** By what, and by the name or the beginning of the bucket. */
export type Sketches = Map<By, Map<string, Sketch>>;

/**
 * The durations in a long window: closed days from their sketches, the rest from rows. Null where the window is short or asks for
 * what no sketch knows: then they are read exactly.
 */
export async function sketchesOf(
  db: Kysely<Tables>,
  scope: Scope,
  { by, timed }: { by: readonly By[]; timed: Timed },
): Promise<Sketches | null> {
  if (scope.team !== undefined || asksForExecutions(scope)) return null;
  const found = daysIn(scope.window, await closedUntil(db, scope));
  if (found === null || (found.days.from !== null && found.days.to - found.days.from <= EXACT_DAYS * DAY_MS))
    return null;
  const counted = await Promise.all([
    storedCounts(db, { scope, days: found.days, timed }),
    ...found.rest.map((window) => restOf(db, { ...scope, window }, timed)),
  ]);
  const sketches: Sketches = new Map(by.map((one) => [one, new Map()]));
  for (const [n, { counts, ...of }] of counted.flat().entries()) {
    addStored(
      by.map((one) => sketchIn(sketches, one, of)),
      counts,
    );
    if (n % IN_ONE_TURN === IN_ONE_TURN - 1) await setImmediate();
  }
  return sketches;
}

function sketchIn(sketches: Sketches, by: By, { pipeline, bucket }: Pick<Counted, 'pipeline' | 'bucket'>): Sketch {
  const of = { pipeline, bucket: String(bucket), all: '' }[by];
  const sketch = sketches.get(by)?.get(of) ?? emptySketch();
  sketches.get(by)?.set(of, sketch);
  return sketch;
}

/** Durations of one pipeline in one bucket of time: a JSON object of how many are in each bucket of a sketch. */
interface Counted {
  pipeline: string;
  bucket: number;
  counts: string;
}

async function storedCounts(
  db: Kysely<Tables>,
  { scope, days, timed }: { scope: Scope; days: Window; timed: Timed },
): Promise<Counted[]> {
  const where = [
    scope.step === undefined ? sketchOfRuns(timed) : sql<boolean>`step_name = ${scope.step}`,
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...within('day', days),
  ];
  const { rows } = await sql<Counted>`
    select pipeline_name as pipeline, ${bucketOf('day', scope.bucketMs)} as bucket, counts
    from daily_durations as durations where ${all(where)}`.execute(db);
  return rows;
}

/** A pipeline's day in which no run waited for people has one sketch for its total and its machine time. */
const sketchOfRuns = (timed: Timed) =>
  timed === 'machine'
    ? sql<boolean>`(step_name = ${SKETCH_OF.machine} or (step_name = ${SKETCH_OF.total} and not exists (
        select 1 from daily_durations as machine where machine.step_name = ${SKETCH_OF.machine} and machine.day = durations.day
          and machine.pipeline_name = durations.pipeline_name and machine.stage = durations.stage)))`
    : sql<boolean>`step_name = ${SKETCH_OF[timed]}`;

async function restOf(db: Kysely<Tables>, scope: Scope, timed: Timed): Promise<Counted[]> {
  const { rows } = await sql<Counted>`
    select pipeline, bucket, ${dialectOf(db).objectOf('duration', 'n')} as counts from (
      select pipeline, bucket, duration, count(*) as n from (${scope.step === undefined ? runsIn(scope, timed) : stepsIn(scope)}) as timed
      group by pipeline, bucket, duration) as counted group by pipeline, bucket`.execute(db);
  return rows;
}

function runsIn(scope: Scope, timed: Timed): RawBuilder<unknown> {
  const { from, where } = endedRuns(scope);
  return sql`select runs.pipeline_name as pipeline, ${bucketOf('triggered_at', scope.bucketMs)} as bucket, ${bucketOfDuration(MS_OF[timed])} as duration
    from ${from} ${joinWaits(timed, scope.window)} where ${all(where)}`;
}

function stepsIn({ step, window, stages, pipeline, bucketMs }: Scope): RawBuilder<unknown> {
  const where = all([
    ...equals('family', step),
    oneOf('stage', stages),
    ...equals('pipeline_name', pipeline),
    ...within('started_at', window),
    isExecution(),
  ]);
  return sql`select pipeline_name as pipeline, ${bucketOf('started_at', bucketMs)} as bucket, ${bucketOfDuration(sql`completed_at - started_at`)} as duration
    from step_executions where ${where}`;
}
