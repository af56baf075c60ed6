import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Database, Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { marksWith, removeMark, setMark } from '../marks.ts';
import { inBatches } from './in-batches.ts';

/** Names the marks of runs that are being removed: such a run lacks some of its rows. */
const REMOVING = 'removing:';

/** The run of the column `runId` is not being removed. */
export const isWhole = (runId: string) =>
  sql<SqlBool>`not exists (select 1 from marks where marks.name = ${sql.lit(REMOVING)} || ${sql.ref(runId)})`;

/** From then on nobody sees or pins the steps of the run, and it is removed even by a later process. */
export const noteRemoving = (tx: Tx, runId: string): Promise<void> => setMark(tx, `${REMOVING}${runId}`, 1);

/** Tables with many rows of a large run, and what tells these from each other. */
const ROWS = [
  ['step_executions', 'step_name'],
  ['judged_steps', 'step_name'],
  ['step_feedback', 'step_name'],
  ['run_events', 'first_seq'],
  ['replay_samples', 'position'],
] as const;

/** Removes the runs that were noted, some rows in a transaction and what hangs on them first; answers how many there were. */
export async function removeNoted(database: Pick<Database, 'db' | 'write'>): Promise<number> {
  const runs = await marksWith(database.db, REMOVING);
  for (const { name: runId } of runs) {
    for (const rows of ROWS) await inBatches(database, ({ db }, most) => removeRows(db, runId, { rows, most }));
    await database.write(async (tx) => {
      await tx.db.deleteFrom('runs').where('id', '=', runId).execute();
      await removeMark(tx, `${REMOVING}${runId}`);
    });
  }
  return runs.length;
}

async function removeRows(
  db: Kysely<Tables>,
  runId: string,
  { rows: [name, column], most }: { rows: (typeof ROWS)[number]; most: number },
) {
  const [table, key] = [sql.table(name), sql.ref(column)];
  const of = sql`from ${table} where run_id = ${runId}`;
  const { numAffectedRows } = await sql`delete ${of} and ${key} in (select ${key} ${of} limit ${most})`.execute(db);
  const removed = Number(numAffectedRows);
  return { removed, seen: removed, more: removed === most };
}
