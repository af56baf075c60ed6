import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { addStored, emptySketch, type Sketch } from '../../../analytics/sketch.ts';
import type { Window } from '../../../analytics/window.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { all, asksForExecutions, equals, oneOf, type Scope, within } from '../scope.ts';
import { bucketOfDuration } from './close-days.ts';
import { sketchedDays } from './closed-days.ts';

/** Texts that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;

type StepScope = Scope & { step: string };

/**
 * The durations of a step in a long window: of closed days from their sketches, the rest from rows. Null where the window is short or asks for
 * what no sketch knows: then they are read exactly.
 */
export async function stepSketch(db: Kysely<Tables>, scope: StepScope): Promise<Sketch | null> {
  const found = asksForExecutions(scope) || scope.team !== undefined ? null : await sketchedDays(db, scope);
  if (found === null) return null;
  const counted = await Promise.all([
    storedCounts(db, scope, found.days),
    ...found.rest.map((window) => restOf(db, { ...scope, window })),
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

async function storedCounts(db: Kysely<Tables>, { step, stages, pipeline }: StepScope, days: Window) {
  const where = [
    ...equals('step_name', step),
    oneOf('stage', stages),
    ...equals('pipeline_name', pipeline),
    ...within('day', days),
  ];
  const { rows } = await sql<Counted>`select counts from daily_durations where ${all(where)}`.execute(db);
  return rows;
}

async function restOf(db: Kysely<Tables>, { step, window, stages, pipeline }: StepScope): Promise<Counted[]> {
  const where = all([
    ...equals('family', step),
    oneOf('stage', stages),
    ...equals('pipeline_name', pipeline),
    ...within('started_at', window),
    isExecution(),
  ]);
  const { rows } = await sql<Counted>`
    select ${dialectOf(db).objectOf('duration', 'n')} as counts from (
      select duration, count(*) as n from (
        select ${bucketOfDuration(sql`completed_at - started_at`)} as duration from step_executions where ${where}) as timed
      group by duration) as counted having count(*) > 0`.execute(db);
  return rows;
}
