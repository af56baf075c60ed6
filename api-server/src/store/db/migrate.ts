import { sql, type Kysely } from 'kysely';
import { dialectOf } from './dialect.ts';
import { migrations } from '../migrations/index.ts';
import type { Tables } from './schema.ts';

export interface MigrateOptions {
  autoMigrate: boolean;
  now: () => number;
}

/**
 * Brings the schema up to this program's, one transaction a migration, forward only (Orchestration 9).
 * Throws one line naming the pending revisions when `autoMigrate` is false, and refuses a newer schema.
 * The caller holds a lock so that no other process migrates meanwhile.
 */
export async function migrate(db: Kysely<Tables>, options: MigrateOptions): Promise<void> {
  const applied = await appliedIds(db);
  const known = new Set(migrations.map(({ id }) => id));
  const foreign = [...applied].filter((id) => !known.has(id));
  if (foreign.length > 0) {
    throw new Error(
      `database.url: the schema is newer than this program (${foreign.join(', ')}); use the newer program`,
    );
  }
  const pending = migrations.filter(({ id }) => !applied.has(id));
  if (pending.length > 0 && !options.autoMigrate) {
    const names = pending.map(({ id }) => id).join(', ');
    throw new Error(`database.auto_migrate is false and the schema is behind; pending: ${names}`);
  }
  const { words } = dialectOf(db);
  for (const { id, up } of pending) {
    await db.transaction().execute(async (transaction) => {
      await sql.raw(LEDGER(words)).execute(transaction);
      for (const statement of up(words)) await sql.raw(statement).execute(transaction);
      await transaction.insertInto('schema_migrations').values({ id, applied_at: options.now() }).execute();
    });
  }
}

const LEDGER = ({ text, integer, table }: { text: string; integer: string; table: string }): string =>
  `CREATE TABLE IF NOT EXISTS schema_migrations (id ${text} PRIMARY KEY, applied_at ${integer} NOT NULL) ${table}`;

async function appliedIds(db: Kysely<Tables>): Promise<Set<string>> {
  const { rows } = await dialectOf(db).tableExists('schema_migrations').execute(db);
  if (!rows[0]?.found) return new Set();
  const ledger = await db.selectFrom('schema_migrations').select('id').execute();
  return new Set(ledger.map(({ id }) => id));
}
