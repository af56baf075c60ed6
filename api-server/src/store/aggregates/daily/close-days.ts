import { type Kysely, type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../../../analytics/window.ts';
import { GROWTH } from '../../../analytics/sketch.ts';
import { HOUR_MS } from '../../../runs/state/hourly.ts';
import { ACTIVE_RUN_STATUSES, STAGES } from '../../../runs/state/model.ts';
import type { Database } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { SUMMED } from '../../db/hourly-sums.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { setMark } from '../../tables/marks.ts';
import { joinWaits, MS_OF, SKETCH_OF, type Timed } from '../waits.ts';
import { closeWeeks } from './close-weeks.ts';
import { CLOSED, firstOpenDay } from './closed-days.ts';
import { inserts, insertAll, RUN_NAMES, STEP_NAMES, summed, USE_NAMES } from './store-sums.ts';

export interface CloseDaysDeps {
  database: Pick<Database, 'db' | 'reader' | 'write'>;
  now: number;
  signal: AbortSignal;
  progress?: (day: number) => void;
}

/** After a day, for clocks that differ. */
const SETTLED_MS = HOUR_MS;

/**
 * Sums the days that are over and of which no run goes on: nothing adds to them any more. Each day is read off the event loop
 * and written in small transactions; where a process ends in the middle, the next call does the day again. Then does so with the weeks that
 * are over. Answers how many days.
 */
export async function closeDays({ database, now, signal, progress }: CloseDaysDeps): Promise<number> {
  for (let closed = 0; ; closed += 1) {
    const day = signal.aborted ? null : await nextDay(database.reader(signal), now);
    if (day === null) {
      await closeWeeks({ database, signal });
      return closed;
    }
    await closeDay(database, day, signal);
    progress?.(day);
  }
}

/** The oldest day with sums that can be closed. */
async function nextDay(db: Kysely<Tables>, now: number): Promise<number | null> {
  const day = await firstOpenDay(db);
  if (day === null || day + DAY_MS + SETTLED_MS > now) return null;
  const active = await db
    .selectFrom('runs')
    .select('id')
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .where('triggered_at', '<', day + DAY_MS)
    .limit(1)
    .execute();
  return active.length > 0 ? null : day;
}

async function closeDay(database: CloseDaysDeps['database'], day: number, signal: AbortSignal): Promise<void> {
  const db = database.reader(signal);
  const window = { from: day, to: day + DAY_MS };
  const sum = async (of: 'hourly_runs' | 'hourly_steps', keys: readonly string[]) =>
    (await summed(db, { from: of, of, time: 'hour', window, keys })).map((row) => ({ day, ...row }));
  const sums = [
    [insertRuns, await sum('hourly_runs', RUN_NAMES)],
    [insertUse, await sum('hourly_steps', USE_NAMES)],
    [insertSteps, await sum('hourly_steps', STEP_NAMES)],
    [insertDurations, await runDurations(db, day, 'total')],
    ...(await waitDurations(db, day)).map((rows) => [insertDurations, rows] as const),
    [insertDurations, await stepDurations(db, day)],
  ] as const;
  for (const [insert, rows] of sums) await insertAll(database, insert, rows);
  await database.write((tx) => setMark(tx, CLOSED, day + DAY_MS));
}

const insertRuns = inserts('daily_runs', ['day', ...RUN_NAMES, ...SUMMED.hourly_runs]);
const insertUse = inserts('daily_use', ['day', ...USE_NAMES, ...SUMMED.hourly_steps]);
const insertSteps = inserts('daily_steps', ['day', ...STEP_NAMES, ...SUMMED.hourly_steps]);
const insertDurations = inserts('daily_durations', ['step_name', 'day', 'pipeline_name', 'stage', 'counts']);

/** The number of the bucket of a sketch that a duration is in, as `analytics/sketch.ts` counts them. */
export const bucketOfDuration = (ms: RawBuilder<number>): RawBuilder<number> => {
  const atLeastOne = sql`case when ${ms} < 1 then 1 else ${ms} end`;
  return sql`cast(ceil(ln(cast(${atLeastOne} as double precision)) / ${sql.lit(Math.log(GROWTH))}) as integer)`;
};

/** Sketches of the machine time and the waiting, of the pipelines of which a run waited for people on this day. */
async function waitDurations(db: Kysely<Tables>, day: number): Promise<object[][]> {
  const waiting = await runDurations(db, day, 'waiting');
  if (waiting.length === 0) return [];
  const waited = new Set(waiting.map(keyOf));
  return [waiting, (await runDurations(db, day, 'machine')).filter((row) => waited.has(keyOf(row)))];
}

const keyOf = ({ pipeline_name: name, stage }: RunDurations): string => `${stage} ${name}`;

interface RunDurations {
  step_name: string;
  day: number;
  pipeline_name: string;
  stage: string;
  counts: string;
}

async function runDurations(db: Kysely<Tables>, day: number, timed: Timed): Promise<RunDurations[]> {
  const { rows } = await sql<
    Omit<RunDurations, 'step_name' | 'day'>
  >`select pipeline_name, stage, ${counts(db)} as counts from (
      select runs.pipeline_name as pipeline_name, runs.stage as stage, ${bucketOfDuration(MS_OF[timed])} as bucket, count(*) as n
      from (select distinct pipeline_name, stage from hourly_runs where hour >= ${day} and hour < ${day + DAY_MS}) as seen
      join runs on runs.pipeline_name = seen.pipeline_name and runs.stage = seen.stage
      ${joinWaits(timed, { window: { from: day, to: day + DAY_MS }, stages: STAGES })}
      where completed_at is not null and triggered_at >= ${day} and triggered_at < ${day + DAY_MS}
      group by runs.pipeline_name, runs.stage, bucket) as counted
    group by pipeline_name, stage`.execute(db);
  return rows.map((row) => ({ step_name: SKETCH_OF[timed], day, ...row }));
}

async function stepDurations(db: Kysely<Tables>, day: number): Promise<object[]> {
  const { rows } = await sql<object>`select step_name, pipeline_name, stage, ${counts(db)} as counts from (
      select family as step_name, pipeline_name, step_executions.stage as stage, ${bucketOfDuration(sql`completed_at - started_at`)} as bucket, count(*) as n
      from (select distinct step_name as name, stage from hourly_steps where hour >= ${day} and hour < ${day + DAY_MS}) as seen
      join step_executions on family = seen.name and step_executions.stage = seen.stage
      where ${isExecution()} and started_at >= ${day} and started_at < ${day + DAY_MS}
      group by family, pipeline_name, step_executions.stage, bucket) as counted
    group by step_name, pipeline_name, stage`.execute(db);
  return rows.map((row) => ({ day, ...row }));
}

const counts = (db: Kysely<Tables>) => dialectOf(db).objectOf('bucket', 'n');
