import { type Kysely, sql } from 'kysely';
import { type RunTally, sketchedTally } from '../../analytics/run-tally.ts';
import { p95Of } from '../../analytics/sketch.ts';
import type { By, Percentile } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution } from '../db/rows/executions.ts';
import { closedUntil, sketchedDays } from './daily/closed-days.ts';
import { addSketches } from './daily/run-sketches.ts';
import { stepSketch } from './daily/step-sketches.ts';
import { weeksAndDays } from './daily/sum-parts.ts';
import { all, apart, equals, executionFilter, oneOf, type Scope, within } from './scope.ts';
import { addRuns, runsOf } from './uses/read-runs.ts';

/** The nearest rank: the smallest duration that at least 95 of 100 do not exceed. */
const RANK = sql`(n * 95 + 99) / 100`;

/**
 * The p95 of the durations of ended runs, whatever agents and models they had, by pipeline, by bucket of time and of all of them; nothing for
 * what has none. Exact over a week and less, within 1% over more.
 */
export async function runPercentiles<K extends By>(
  db: Kysely<Tables>,
  scope: Scope,
  by: readonly K[],
): Promise<Record<K, Percentile[]>> {
  const runs = await timedRuns(db, scope);
  return apart(by, (one): Percentile[] => runs.percentiles(one));
}

async function timedRuns(db: Kysely<Tables>, scope: Scope): Promise<RunTally> {
  // Sketches know no teams.
  const closed = await closedUntil(db, scope);
  const found = scope.team === undefined ? sketchedDays(scope.window, closed) : null;
  if (found === null) return runsOf(db, scope);
  const tally = sketchedTally(scope);
  for (const spans of weeksAndDays(found.whole, closed)) await addSketches(db, scope, spans, tally);
  for (const window of found.rest) await addRuns(db, { ...scope, window }, tally);
  return tally;
}

/** The same of the ended executions of one step. */
export async function stepPercentile(db: Kysely<Tables>, scope: Scope & { step: string }): Promise<number | null> {
  const sketch = await stepSketch(db, scope);
  if (sketch !== null) return secondsOf(p95Of(sketch));
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

const secondsOf = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : ms / 1000;
