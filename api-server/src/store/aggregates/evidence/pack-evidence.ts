import type { EvidenceOf } from '../../../analytics/readiness/executions.ts';
import { DAY_MS } from '../../../analytics/window.ts';
import type { Stage } from '../../../runs/state/model.ts';
import type { Database } from '../../db/database.ts';
import { setMark } from '../../tables/marks.ts';
import { nextClosedDay } from '../daily/closed-days.ts';
import { type InTurn, takeTurn } from '../daily/take-turn.ts';
import { pack } from './packed-part.ts';
import { batchesOf, endedRuns } from './stored-runs.ts';

/**
 * The name of the number that says before which day the evidence is packed. Another form of the parts gets another name: all days are
 * packed once more, and parts of the form before are not read.
 */
export const PACKED = 'packed_evidence:columns';
/** Runs of one part: few, so that a reader unpacks it in one turn of the event loop. */
const RUNS_A_PART = 200;

interface PackDeps {
  database: Pick<Database, 'reader' | 'write'>;
  signal: AbortSignal;
}

interface Packing {
  reader: () => ReturnType<Database['reader']>;
  write: InTurn;
}

/**
 * Packs what readiness asks of the executions of closed days, which nothing changes any more, by pipeline, stage and day of the trigger.
 * Each day is read off the event loop; where a process ends in the middle, the next call does the day again. Answers how many days.
 */
export async function packEvidence({ database, signal }: PackDeps): Promise<number> {
  const packing: Packing = { reader: () => database.reader(signal), write: await takeTurn(database, PACKED) };
  for (let packed = 0; ; packed += 1) {
    const day = signal.aborted ? null : await nextClosedDay(packing.reader(), PACKED, 'hourly_runs');
    if (day === null) return packed;
    await packDay(packing, day);
  }
}

async function packDay({ reader, write }: Packing, day: number): Promise<void> {
  const pairs = await reader()
    .selectFrom('hourly_runs')
    .select(['pipeline_name as pipeline', 'stage'])
    .distinct()
    .where('hour', '>=', day)
    .where('hour', '<', day + DAY_MS)
    .execute();
  for (const { pipeline, stage } of pairs) await packRuns({ reader, write }, { pipeline, stage: stage as Stage }, day);
  await write((tx) => setMark(tx, PACKED, day + DAY_MS));
}

async function packRuns({ reader, write }: Packing, of: EvidenceOf, day: number): Promise<void> {
  const runs = await endedRuns(reader(), of, { from: day, to: day + DAY_MS });
  const name = { pipeline_name: of.pipeline, stage: of.stage, day };
  // Of a process that ended in the middle; runs may have been removed since.
  await write(({ db }) =>
    db
      .deleteFrom('packed_evidence')
      .where(({ and }) => and(name))
      .execute(),
  );
  let part = 0;
  for await (const batch of batchesOf(reader, runs, RUNS_A_PART)) {
    const row = { ...name, part, body: pack(batch) };
    await write(({ db }) => db.insertInto('packed_evidence').values(row).execute());
    part += 1;
  }
}
