import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { addStored, emptySketch, type Sketch } from '../../../analytics/sketch.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { all, type Condition, equals, executionFilter, keyed, oneOf, type Scope, within } from '../scope.ts';
import { bucketOfDuration } from './close-days.ts';
import { closedUntil, sketchedDays } from './closed-days.ts';

/** Texts that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;

type StepScope = Scope & { step: string };

/**
 * The durations of a step in a long window: of closed days from their sketches, the rest from rows. Sketches know no teams, agents and models:
 * those of one are of days in which all executions of the step in a pipeline were its own. Null where the window is short: then they are read exactly.
 */
export async function stepSketch(db: Kysely<Tables>, scope: StepScope): Promise<Sketch | null> {
  const found = sketchedDays(scope.window, await closedUntil(db, scope));
  if (found === null) return null;
  const days = daysOf(scope, found.whole);
  const counted = await Promise.all([
    storedCounts(db, scope, days),
    mixedDays(db, scope, days),
    ...found.rest.map((window) => countsIn(db, scope, { from: sql`step_executions`, window, of: [] })),
  ]);
  const sketch = emptySketch();
  for (const [n, { counts }] of counted.flat().entries()) {
    addStored([sketch], counts);
    if (n % IN_ONE_TURN === IN_ONE_TURN - 1) await setImmediate();
  }
  return sketch;
}

/** A JSON object of how many durations are in each bucket of a sketch. */
interface Counted {
  counts: string;
}

/** Of each pipeline's day with an execution that is asked for, whether all are. */
function daysOf({ step, stages, pipeline, team, agent, model }: StepScope, days: Window): RawBuilder<unknown> {
  const where = all([
    ...equals('step_name', step),
    oneOf('stage', stages),
    ...equals('pipeline_name', pipeline),
    ...within('day', days),
  ]);
  const asked = all([
    sql<boolean>`executions > 0`,
    ...equals('team', keyed('team', team)),
    ...equals('agent', keyed('agent', agent)),
    ...equals('model', keyed('model', model)),
  ]);
  return sql`(select day, pipeline_name, stage, min(case when ${asked} then 1 else 0 end) as is_own from daily_steps where ${where}
    group by day, pipeline_name, stage having max(case when ${asked} then 1 else 0 end) = 1) as days`;
}

async function storedCounts(db: Kysely<Tables>, { step }: StepScope, days: RawBuilder<unknown>): Promise<Counted[]> {
  const { rows } =
    await sql<Counted>`select counts from ${days} join daily_durations as durations on durations.step_name = ${step}
    and durations.day = days.day and durations.pipeline_name = days.pipeline_name and durations.stage = days.stage
    where is_own = 1`.execute(db);
  return rows;
}

/** SQLite walks the tables of a cross join in their order. */
const mixedDays = (db: Kysely<Tables>, scope: StepScope, days: RawBuilder<unknown>): Promise<Counted[]> =>
  countsIn(db, scope, {
    from: sql`${days} cross join step_executions`,
    window: { from: null, to: null },
    of: [
      sql<boolean>`is_own = 0 and step_executions.stage = days.stage and step_executions.pipeline_name = days.pipeline_name
        and started_at >= days.day and started_at < days.day + ${DAY_MS}`,
    ],
  });

async function countsIn(
  db: Kysely<Tables>,
  scope: StepScope,
  { from, window, of }: { from: RawBuilder<unknown>; window: Window; of: Condition[] },
): Promise<Counted[]> {
  const where = all([
    ...equals('family', scope.step),
    ...executionFilter(scope),
    oneOf('step_executions.stage', scope.stages),
    ...within('started_at', window),
    ...of,
    isExecution(),
  ]);
  const { rows } = await sql<Counted>`
    select ${dialectOf(db).objectOf('duration', 'n')} as counts from (
      select duration, count(*) as n from (
        select ${bucketOfDuration(sql`completed_at - started_at`)} as duration from ${from} where ${where}) as timed
      group by duration) as counted having count(*) > 0`.execute(db);
  return rows;
}
