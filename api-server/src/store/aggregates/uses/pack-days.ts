import { type Kysely, sql } from 'kysely';
import { DAY_MS } from '../../../analytics/window.ts';
import { keyName } from '../../../runs/state/hourly.ts';
import { STAGES } from '../../../runs/state/model.ts';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { setMark } from '../../tables/marks.ts';
import { nextClosedDay } from '../daily/closed-days.ts';
import { type InTurn, takeTurn } from '../daily/take-turn.ts';
import { all, type Condition, within } from '../scope.ts';
import { joinWaits, MS_OF } from '../waits.ts';
import { packRuns, RUNS_A_PART, type UsedRun } from './packed-runs.ts';
import { withUses } from './stored-uses.ts';

/** The name of the number that says before which day the runs are packed. */
export const RUNS_PACKED = 'packed_runs';
/** Uses of the runs of a part, repeated ones too: each has a bit of every run, and its name is read with the part. */
export const USES_A_PART = 20_000;

export interface PackDeps {
  database: Pick<Database, 'reader' | 'write'>;
  signal: AbortSignal;
  progress?: (day: number) => void;
}

/**
 * Packs the runs of closed days with the agents and models that they had. Each day is read off the event loop; where a process ends in the
 * middle, the next call does the day again. Answers how many days.
 */
export async function packDays({ database, signal, progress }: PackDeps): Promise<number> {
  const write = await takeTurn(database, RUNS_PACKED);
  for (let packed = 0; ; packed += 1) {
    const day = signal.aborted ? null : await nextClosedDay(database.reader(signal), RUNS_PACKED, 'hourly_runs');
    if (day === null) return packed;
    await packDay(write, runsOf({ database, signal }, day), day);
    progress?.(day);
  }
}

/** Nobody reads a day before the mark is behind it. */
async function packDay(write: InTurn, ofDay: AsyncIterable<UsedRun>, day: number): Promise<void> {
  await write(({ db }) => db.deleteFrom('packed_runs').where('day', '=', day).execute());
  let part = 0;
  for await (const runs of partsOf(ofDay)) {
    const row = { day, part, body: packRuns(day, runs) };
    await write(({ db }) => db.insertInto('packed_runs').values(row).execute());
    part += 1;
  }
  await write((tx) => setMark(tx, RUNS_PACKED, day + DAY_MS));
}

export async function* partsOf(runs: AsyncIterable<UsedRun>): AsyncGenerator<UsedRun[]> {
  let [part, uses]: [UsedRun[], number] = [[], 0];
  for await (const run of runs) {
    if (part.length > 0 && (part.length === RUNS_A_PART || uses + run.uses.length > USES_A_PART)) {
      yield part;
      [part, uses] = [[], 0];
    }
    part.push(run);
    uses += run.uses.length;
  }
  if (part.length > 0) yield part;
}

async function* runsOf({ database, signal }: PackDeps, day: number): AsyncGenerator<UsedRun> {
  const db = database.reader(signal);
  const window = { from: day, to: day + DAY_MS };
  const waits = await waitsOf(db, window);
  const names = await db
    .selectFrom('hourly_runs')
    .select(['pipeline_name', 'stage'])
    .distinct()
    .where('hour', '>=', window.from)
    .where('hour', '<', window.to)
    .execute();
  for (const name of names) {
    const runs = await endedRuns(db, name, within('triggered_at', window));
    for await (const some of withUses(db, runs))
      for (const { id, team, status, triggered_at: triggeredAt, took, uses } of some)
        yield {
          kind: { pipeline: name.pipeline_name, stage: name.stage, team: keyName('team', team) || null, status },
          times: { triggeredAt, took, waited: waits.get(id) ?? null },
          uses,
        };
  }
}

const endedRuns = (
  db: Kysely<Tables>,
  { pipeline_name: pipeline, stage }: { pipeline_name: string; stage: string },
  triggered: Condition[],
) =>
  db
    .selectFrom('runs')
    .select(['id', 'team', 'status', 'triggered_at', sql<number>`${MS_OF.total}`.as('took')])
    .where('pipeline_name', '=', pipeline)
    .where('stage', '=', stage)
    .where(all([sql<boolean>`completed_at is not null`, ...triggered]))
    .execute();

/** How long the runs of a day waited for people, of those that did. */
async function waitsOf(db: Kysely<Tables>, window: { from: number; to: number }): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; waited: number }>`
    select runs.id as id, waited_ms as waited from runs ${joinWaits('waiting', { window, stages: STAGES })}
    where ${all(within('triggered_at', window))}`.execute(db);
  return new Map(rows.map(({ id, waited }) => [id, waited]));
}
