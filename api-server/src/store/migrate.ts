import type { Kysely } from 'kysely';
import { migrations } from './migrations/index.ts';
import type { Tables } from './schema.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

export interface MigrateOptions {
  autoMigrate: boolean;
  now: () => number;
}

/**
 * Brings the schema up to this program's, one transaction a migration, forward only (Orchestration 9).
 * Throws one line naming the pending revisions when `autoMigrate` is false, and refuses a newer schema.
 */
export async function migrate({ raw, kysely }: SqliteConnection, options: MigrateOptions): Promise<void> {
  raw.exec('CREATE TABLE IF NOT EXISTS schema_migrations (id text PRIMARY KEY, applied_at integer NOT NULL) STRICT');
  const applied = await appliedIds(kysely);
  const known = new Set(migrations.map(({ id }) => id));
  const foreign = [...applied].filter((id) => !known.has(id));
  if (foreign.length > 0) {
    throw new Error(`database.url: the schema is newer than this program (${foreign.join(', ')}); use the newer program`);
  }
  const pending = migrations.filter(({ id }) => !applied.has(id));
  if (pending.length > 0 && !options.autoMigrate) {
    const names = pending.map(({ id }) => id).join(', ');
    throw new Error(`database.auto_migrate is false and the schema is behind; pending: ${names}`);
  }
  for (const { id, up } of pending) {
    raw.exec('BEGIN IMMEDIATE');
    try {
      await up(kysely);
      await kysely.insertInto('schema_migrations').values({ id, applied_at: options.now() }).execute();
      raw.exec('COMMIT');
    } catch (error) {
      raw.exec('ROLLBACK');
      throw error;
    }
  }
}

async function appliedIds(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db.selectFrom('schema_migrations').select('id').execute();
  return new Set(rows.map(({ id }) => id));
}
