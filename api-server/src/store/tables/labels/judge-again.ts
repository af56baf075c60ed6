import { DAY_MS } from '../../../analytics/window.ts';
import type { Database } from '../../db/database.ts';
import { relabel } from './relabel.ts';

const MIGRATION = '0029-judged-steps';
/** Processes of an older version go on for no longer than this beside one that migrated their database. */
const BESIDE_MS = DAY_MS;

interface JudgeDeps {
  database: Pick<Database, 'reader' | 'write'>;
  now: number;
  signal: AbortSignal;
}

/**
 * Judges runs again that processes of an older version may have labelled since the migration: these know nothing of judged executions. All of
 * them for as long as such a process may go on; answers how many.
 */
export async function judgeAgain({ database, now, signal }: JudgeDeps): Promise<number> {
  const db = database.reader(signal);
  const migrated = await db
    .selectFrom('schema_migrations')
    .select('applied_at')
    .where('id', '=', MIGRATION)
    .executeTakeFirstOrThrow();
  const since = migrated.applied_at;
  if (now - since > BESIDE_MS) return 0;
  const marked = db
    .selectFrom('audit')
    .select('run_id')
    .where('ts', '>=', since)
    .where('action', 'in', ['mark', 'withdraw_mark'])
    .where('run_id', 'is not', null);
  const labelled = db
    .selectFrom('run_labels')
    .select('run_id')
    // The check that failed may be of a run of the day before.
    .where('triggered_at', '>=', since - DAY_MS);
  const runs = await marked.union(labelled).execute();
  for (const { run_id: id } of runs) {
    if (signal.aborted) break;
    if (id !== null) await database.write((tx) => relabel(tx, id));
  }
  return runs.length;
}
