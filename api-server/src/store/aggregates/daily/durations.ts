import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { addStored, emptySketch, type Sketch } from '../../../analytics/sketch.ts';
import type { By } from '../../../analytics/sums.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import { keyName } from '../../../runs/state/hourly.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import {
  all,
  asksForExecutions,
  bucketOf,
  type Condition,
  endedRuns,
  equals,
  oneOf,
  type Scope,
  within,
} from '../scope.ts';
import { joinWaits, MS_OF, SKETCH_OF, type Timed } from '../waits.ts';
import { bucketOfDuration } from './close-days.ts';
import { closedUntil, daysIn } from './closed-days.ts';

/** Windows with no more closed days than this have exact percentiles. */
const EXACT_DAYS = 7;
/** Texts that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;

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
  if (asksForExecutions(scope) || (scope.team !== undefined && scope.step !== undefined)) return null;
  const found = daysIn(scope.window, await closedUntil(db, scope));
  if (found === null || (found.days.from !== null && found.days.to - found.days.from <= EXACT_DAYS * DAY_MS))
    return null;
  const counted = await Promise.all([
    storedCounts(db, { scope, days: found.days, timed }),
    ...found.rest.map((window) => restOf(db, { ...scope, window }, timed)),
    mixedDays(db, { scope, days: found.days, timed }),
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

interface Days {
  scope: Scope;
  days: Window;
  timed: Timed;
}

async function storedCounts(db: Kysely<Tables>, { scope, days, timed }: Days): Promise<Counted[]> {
  const where = [
    ...ofTeamAlone(scope),
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

/** Sketches of runs know no teams: those of a team are of days in which all runs of a pipeline were its own. */
const ofTeamAlone = ({ team }: Scope): Condition[] => {
  if (team === undefined) return [];
  const runs = sql`select 1 from daily_runs as runs where runs.day = durations.day and runs.pipeline_name = durations.pipeline_name
    and runs.stage = durations.stage`;
  const name = keyName('team', team);
  return [sql`exists (${runs} and runs.team = ${name})`, sql`not exists (${runs} and runs.team <> ${name})`];
};

/** Of the other days of a team the rows. */
async function mixedDays(db: Kysely<Tables>, { scope, days, timed }: Days): Promise<Counted[]> {
  if (scope.team === undefined) return [];
  const where = all([oneOf('stage', scope.stages), ...equals('pipeline_name', scope.pipeline), ...within('day', days)]);
  const from = sql`(select day, pipeline_name as name, stage as at_stage from daily_runs where ${where}
      group by day, pipeline_name, stage having min(team) <> max(team)) as mixed
    join runs on runs.pipeline_name = mixed.name and runs.stage = mixed.at_stage
      and runs.triggered_at >= mixed.day and runs.triggered_at < mixed.day + ${DAY_MS}`;
  return countsIn(db, runsIn({ ...scope, window: days }, { timed, from }));
}

/** A pipeline's day in which no run waited for people has one sketch for its total and its machine time. */
const sketchOfRuns = (timed: Timed) =>
  timed === 'machine'
    ? sql<boolean>`(step_name = ${SKETCH_OF.machine} or (step_name = ${SKETCH_OF.total} and not exists (
        select 1 from daily_durations as machine where machine.step_name = ${SKETCH_OF.machine} and machine.day = durations.day
          and machine.pipeline_name = durations.pipeline_name and machine.stage = durations.stage)))`
    : sql<boolean>`step_name = ${SKETCH_OF[timed]}`;

const restOf = (db: Kysely<Tables>, scope: Scope, timed: Timed): Promise<Counted[]> =>
  countsIn(db, scope.step === undefined ? runsIn(scope, { timed, from: endedRuns(scope).from }) : stepsIn(scope));

/** Counts rows with the columns `pipeline`, `bucket` and `duration`, of which the last one is the bucket of a sketch. */
async function countsIn(db: Kysely<Tables>, timed: RawBuilder<unknown>): Promise<Counted[]> {
  const { rows } = await sql<Counted>`
    select pipeline, bucket, ${dialectOf(db).objectOf('duration', 'n')} as counts from (
      select pipeline, bucket, duration, count(*) as n from (${timed}) as timed
      group by pipeline, bucket, duration) as counted group by pipeline, bucket`.execute(db);
  return rows;
}

function runsIn(scope: Scope, { timed, from }: { timed: Timed; from: RawBuilder<unknown> }): RawBuilder<unknown> {
  return sql`select runs.pipeline_name as pipeline, ${bucketOf('triggered_at', scope.bucketMs)} as bucket, ${bucketOfDuration(MS_OF[timed])} as duration
    from ${from} ${joinWaits(timed, scope.window)} where ${all(endedRuns(scope).where)}`;
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
