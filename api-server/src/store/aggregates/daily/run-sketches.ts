import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { RunTally } from '../../../analytics/run-tally.ts';
import { addStored, type Sketch } from '../../../analytics/sketch.ts';
import type { Tables } from '../../db/schema.ts';
import { all, bucketOf, equals, oneOf, type Scope, within } from '../scope.ts';
import { SKETCH_OF } from '../waits.ts';
import type { Spans } from './sum-parts.ts';

/** Texts that are added in one turn of the event loop. */
const IN_ONE_TURN = 300;
const DURATIONS = { week: 'weekly_durations', day: 'daily_durations' } as const;

interface Stored {
  what: string;
  at: number;
  stage: string;
  pipeline: string;
  bucket: number;
  /** A JSON object of how many durations are in each bucket of a sketch. */
  counts: string;
}

/** Adds the durations of closed weeks or days, as they were summed when these were closed. */
export async function addSketches(
  db: Kysely<Tables>,
  scope: Scope,
  { time, window }: Spans<'week' | 'day'>,
  tally: RunTally<Sketch>,
): Promise<void> {
  const where = all([
    oneOf('step_name', Object.values(SKETCH_OF)),
    oneOf('stage', scope.stages),
    ...equals('pipeline_name', scope.pipeline),
    ...within(time, window),
  ]);
  const { rows } = await sql<Stored>`select step_name as what, ${sql.ref(time)} as at, stage, pipeline_name as pipeline,
    ${bucketOf(time, scope.bucketMs)} as bucket, counts from ${sql.table(DURATIONS[time])} where ${where}`.execute(db);
  const keyOf = ({ at, stage, pipeline }: Stored) => `${at} ${stage} ${pipeline}`;
  const waited = new Set(rows.filter(({ what }) => what === SKETCH_OF.machine).map(keyOf));
  for (const [n, row] of rows.entries()) {
    const groups = [tally.timed('pipeline', row.pipeline), tally.timed('bucket', row.bucket)];
    for (const timed of sketchesOf(row.what, !waited.has(keyOf(row))))
      addStored(
        groups.map((group) => group[timed]),
        row.counts,
      );
    if (n % IN_ONE_TURN === IN_ONE_TURN - 1) await setImmediate();
  }
}

/** A pipeline's day or week in which no run waited for people has one sketch for its total and its machine time. */
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
