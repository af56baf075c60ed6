import { type Kysely, sql } from 'kysely';
import type { EvidenceOf, EvidenceRow } from '../../../analytics/readiness/evidence.ts';
import { DAY_MS } from '../../../analytics/window.ts';
import type { Stage } from '../../../runs/state/model.ts';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark, setMark } from '../../tables/marks.ts';
import { lockPins } from '../../tables/replay/golden-members.ts';
import { CLOSED } from '../daily/closed-days.ts';
import { pack } from './packed-part.ts';
import { endedRuns, executionsOf } from './stored-runs.ts';

/** The name of the number that says before which day the evidence is packed. */
export const PACKED = 'packed_evidence';
/** Runs of one part: few, so that a reader unpacks it in one turn of the event loop. */
const RUNS_A_PART = 200;

interface PackDeps {
  database: Pick<Database, 'db' | 'reader' | 'write'>;
  signal: AbortSignal;
}

/**
 * Packs what readiness asks of the executions of closed days, which nothing changes any more, by pipeline, stage and day of the trigger.
 * Each day is read off the event loop; where a process ends in the middle, the next call does the day again. Answers how many days.
 */
export async function packEvidence({ database, signal }: PackDeps): Promise<number> {
  for (let packed = 0; ; packed += 1) {
    const day = signal.aborted ? null : await nextDay(database.reader(signal));
    if (day === null || !(await packDay(database, day, signal))) return packed;
  }
}

/** The oldest closed day with runs that are not packed; null where there is none. */
async function nextDay(db: Kysely<Tables>): Promise<number | null> {
  const [closed, packed] = [await lastMark(db, CLOSED), await lastMark(db, PACKED)];
  const { rows } = await sql<{ hour: number }>`
    select hour from hourly_runs where hour >= ${packed ?? 0} and hour < ${closed ?? 0} order by hour limit 1`.execute(
    db,
  );
  const hour = rows[0]?.hour;
  return hour === undefined ? null : hour - (hour % DAY_MS);
}

/** False where runs were removed meanwhile: the day has to be read again. */
async function packDay(database: PackDeps['database'], day: number, signal: AbortSignal): Promise<boolean> {
  const pairs = await database
    .reader(signal)
    .selectFrom('hourly_runs')
    .select(['pipeline_name as pipeline', 'stage'])
    .distinct()
    .where('hour', '>=', day)
    .where('hour', '<', day + DAY_MS)
    .execute();
  for (const { pipeline, stage } of pairs)
    if (!(await packRuns({ database, signal }, { pipeline, stage: stage as Stage }, day))) return false;
  await database.write((tx) => setMark(tx, PACKED, day + DAY_MS));
  return true;
}

async function packRuns({ database, signal }: PackDeps, of: EvidenceOf, day: number): Promise<boolean> {
  const window = { from: day, to: day + DAY_MS };
  const runs = await endedRuns(database.reader(signal), of, window);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < runs.length; at += RUNS_A_PART) {
    const some = runs.slice(at, at + RUNS_A_PART);
    const rows: EvidenceRow[] = await executionsOf(database.reader(signal), some);
    const seqs = some.map(({ seq }) => seq).toReversed();
    parts.push(pack(day, seqs, rows));
  }
  return database.write(async (tx) => {
    // Those that remove runs hold it too, and remove what is packed of them.
    await lockPins(tx);
    if ((await endedRuns(tx.db, of, window)).length !== runs.length) return false;
    const name = { pipeline_name: of.pipeline, stage: of.stage, day };
    await tx.db
      .deleteFrom('packed_evidence')
      .where('pipeline_name', '=', of.pipeline)
      .where('stage', '=', of.stage)
      .where('day', '=', day)
      .execute();
    for (const [part, body] of parts.entries())
      await tx.db
        .insertInto('packed_evidence')
        .values({ ...name, part, body })
        .execute();
    return true;
  });
}
