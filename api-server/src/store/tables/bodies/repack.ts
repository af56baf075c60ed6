import type { Kysely } from 'kysely';
import { isTerminal, type RunStatus } from '../../../runs/state/model.ts';
import type { Database } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark, setMark } from '../marks.ts';
import { keepPacked } from './keep-packed.ts';
import { type PackContext, packRuns } from './pack-runs.ts';
import { fitting, stepCounts } from './step-counts.ts';

/** Names the mark whose value is the `seq` up to which the runs of an older version are packed with their steps; none where all are. */
export const REPACK = 'repack:runs';

const nextRuns = (db: Kysely<Tables>, after: number, most: number) =>
  db
    .selectFrom('runs')
    .leftJoin('unsearched', 'unsearched.seq', 'runs.seq')
    .select(['runs.seq', 'runs.id', 'runs.status', 'runs.context', 'runs.raw', 'runs.result', 'runs.definition_hash'])
    .select('unsearched.seq as waits')
    .where('runs.seq', '>', after)
    .orderBy('runs.seq')
    .limit(most)
    .execute();

type Row = Awaited<ReturnType<typeof nextRuns>>[number];

const isOld = ({ status, result, waits }: Row) => result === null && waits === null && isTerminal(status as RunStatus);

/**
 * Packs the next runs that were ended and packed without their steps, those up to `upTo`; answers up to which one it got, null where nothing is left. A
 * run that is still to be made findable is packed then. One transaction with its own mark: a killed process loses nothing.
 */
export async function repackSome(
  { db, write }: Pick<Database, 'db' | 'write'>,
  { upTo, most, ...context }: PackContext & { upTo: number; most: number },
): Promise<number | null> {
  const after = await lastMark(db, REPACK);
  if (after === null) return null;
  const next = (await nextRuns(db, after, most)).filter(({ seq }) => seq <= upTo);
  const ids = next.filter(isOld).map(({ id }) => id);
  const rows = fitting(next, await stepCounts(db, ids));
  const packed = await packRuns(db, rows.filter(isOld), context);
  const at = rows.at(-1)?.seq ?? null;
  await write(async (tx) => {
    await tx.lock(REPACK);
    if ((await lastMark(tx.db, REPACK)) !== after) return;
    await keepPacked(tx, packed);
    await (at === null ? tx.db.deleteFrom('marks').where('name', '=', REPACK).execute() : setMark(tx, REPACK, at));
  });
  return at;
}
