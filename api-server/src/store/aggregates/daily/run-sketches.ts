import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { RunTally } from '../../../analytics/run-tally.ts';
import { addStored, type Sketch } from '../../../analytics/sketch.ts';
import type { By } from '../../../analytics/sums.ts';
import type { Window } from '../../../analytics/window.ts';
import type { Tables } from '../../db/schema.ts';
import { all, bucketOf, equals, oneOf, type Scope, within } from '../scope.ts';
import { SKETCH_OF } from '../waits.ts';

/** Texts that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;
const BY: readonly By[] = ['pipeline', 'bucket', 'all'];

interface Stored {
  what: string;
  day: number;
  stage: string;
  pipeline: string;
  bucket: number;
  /** A JSON object of how many durations are in each bucket of a sketch. */
  counts: string;
}

/** Adds the durations of closed days, as they were summed when the days were closed. */
export async function addSketches(
  db: Kysely<Tables>,
  { scope, days }: { scope: Scope; days: Window },
  tally: RunTally<Sketch>,
): Promise<void> {
  const where = all([
    oneOf('step_name', Object.values(SKETCH_OF)),
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...within('day', days),
  ]);
  const { rows } = await sql<Stored>`select step_name as what, day, stage, pipeline_name as pipeline,
    ${bucketOf('day', scope.bucketMs)} as bucket, counts from daily_durations where ${where}`.execute(db);
  const keyOf = ({ day, stage, pipeline }: Stored) => `${day} ${stage} ${pipeline}`;
  const waited = new Set(rows.filter(({ what }) => what === SKETCH_OF.machine).map(keyOf));
  for (const [n, row] of rows.entries()) {
    const of = { pipeline: row.pipeline, bucket: row.bucket, all: '' };
    const groups = BY.map((by) => tally.timed(by, of[by]));
    addStored(
      groups.flatMap((group) => sketchesOf(row.what, !waited.has(keyOf(row))).map((timed) => group[timed])),
      row.counts,
    );
    if (n % IN_ONE_TURN === IN_ONE_TURN - 1) await setImmediate();
  }
}

/** A pipeline's day in which no run waited for people has one sketch for its total and its machine time. */
function sketchesOf(what: string, isBoth: boolean): (keyof typeof SKETCH_OF)[] {
  switch (what) {
    case SKETCH_OF.machine:
      return ['machine'];
    case SKETCH_OF.waiting:
      return ['waiting'];
    default:
      return isBoth ? ['total', 'machine'] : ['total'];
  }
}
