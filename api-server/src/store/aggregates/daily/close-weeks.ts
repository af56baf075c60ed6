import { type Kysely, sql } from 'kysely';
import { addStored, emptySketch, storedOf } from '../../../analytics/sketch.ts';
import { WEEK_MS } from '../../../analytics/window.ts';
import type { Database } from '../../db/database.ts';
import { SUMMED } from '../../db/hourly-sums.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark, setMark } from '../../tables/marks.ts';
import { SKETCH_OF } from '../waits.ts';
import { CLOSED, WEEKS_CLOSED } from './closed-days.ts';
import { inserts, insertAll, RUN_NAMES, STEP_NAMES, summed, USE_NAMES } from './store-sums.ts';

interface CloseWeeksDeps {
  database: Pick<Database, 'reader' | 'write'>;
  signal: AbortSignal;
}

/** Adds up the days of weeks of which all are closed. Where a process ends in the middle, the next call does the week again. */
export async function closeWeeks({ database, signal }: CloseWeeksDeps): Promise<void> {
  for (;;) {
    const week = signal.aborted ? null : await nextWeek(database.reader(signal));
    if (week === null) return;
    await closeWeek(database, week, signal);
  }
}

/** The oldest week with sums that can be closed. */
async function nextWeek(db: Kysely<Tables>): Promise<number | null> {
  const [closed, done] = [(await lastMark(db, CLOSED)) ?? 0, (await lastMark(db, WEEKS_CLOSED)) ?? 0];
  const { rows } = await sql<{ day: number }>`
    select day from (select day from daily_runs where day >= ${done} order by day limit 1) as runs
    union all select day from (select day from daily_use where day >= ${done} order by day limit 1) as uses`.execute(
    db,
  );
  const first = Math.min(...rows.map(({ day }) => day));
  const week = first - (first % WEEK_MS);
  return week + WEEK_MS <= closed ? week : null;
}

async function closeWeek(database: CloseWeeksDeps['database'], week: number, signal: AbortSignal): Promise<void> {
  const db = database.reader(signal);
  const window = { from: week, to: week + WEEK_MS };
  const sum = async (from: 'daily_runs' | 'daily_use' | 'daily_steps', keys: readonly string[]) => {
    const of = from === 'daily_runs' ? 'hourly_runs' : 'hourly_steps';
    return (await summed(db, { from, of, time: 'day', window, keys })).map((row) => ({ week, ...row }));
  };
  await insertAll(database, insertRuns, await sum('daily_runs', RUN_NAMES));
  await insertAll(database, insertUse, await sum('daily_use', USE_NAMES));
  await insertAll(database, insertSteps, await sum('daily_steps', STEP_NAMES));
  await insertAll(database, insertDurations, await durationsOf(db, week));
  await database.write((tx) => setMark(tx, WEEKS_CLOSED, week + WEEK_MS));
}

const insertRuns = inserts('weekly_runs', ['week', ...RUN_NAMES, ...SUMMED.hourly_runs]);
const insertUse = inserts('weekly_use', ['week', ...USE_NAMES, ...SUMMED.hourly_steps]);
const insertSteps = inserts('weekly_steps', ['week', ...STEP_NAMES, ...SUMMED.hourly_steps]);
const insertDurations = inserts('weekly_durations', ['step_name', 'week', 'pipeline_name', 'stage', 'counts']);

type Stored = Tables['daily_durations'];

async function durationsOf(db: Kysely<Tables>, week: number): Promise<object[]> {
  const rows = await db
    .selectFrom('daily_durations')
    .selectAll()
    .where('step_name', 'in', Object.values(SKETCH_OF))
    .where('day', '>=', week)
    .where('day', '<', week + WEEK_MS)
    .execute();
  const groups = Map.groupBy(rows, ({ stage, pipeline_name: pipeline }) => `${stage} ${pipeline}`);
  return [...groups.values()].flatMap((own) => {
    const { pipeline_name, stage } = own[0] as Stored;
    return weekOf(own).map((sketch) => ({ week, pipeline_name, stage, ...sketch }));
  });
}

/** Of the days of one pipeline. One in which no run waited for people has one sketch for its total and its machine time. */
function weekOf(days: readonly Stored[]): Pick<Stored, 'step_name' | 'counts'>[] {
  const of = (name: string) => days.filter(({ step_name: own }) => own === name);
  const [total, machine, waiting] = [of(SKETCH_OF.total), of(SKETCH_OF.machine), of(SKETCH_OF.waiting)];
  const waited = new Set(machine.map(({ day }) => day));
  if (waited.size === 0) return [merged(SKETCH_OF.total, total)];
  const apart = [...machine, ...total.filter(({ day }) => !waited.has(day))];
  return [merged(SKETCH_OF.total, total), merged(SKETCH_OF.machine, apart), merged(SKETCH_OF.waiting, waiting)];
}

function merged(name: string, days: readonly Stored[]): Pick<Stored, 'step_name' | 'counts'> {
  const sketch = emptySketch();
  for (const { counts } of days) addStored([sketch], counts);
  return { step_name: name, counts: storedOf(sketch) };
}
