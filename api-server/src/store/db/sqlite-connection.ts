import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, SqliteDialect, type SqliteDatabase } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Tables } from './schema.ts';

/** Statements kept per connection; the dynamic ones of list queries are the only ones that can reach it. */
const CACHED_STATEMENTS = 500;

/** One `node:sqlite` connection with its prepared statements. */
export interface SqliteConnection {
  readonly raw: DatabaseSync;
  readonly kysely: Kysely<Tables>;
  prepare(sql: string): StatementSync;
}

/** Opens the file; `readOnly` connections see committed state only. `statements`: how many stay prepared. */
export function openConnection(
  file: string,
  { readOnly, statements = CACHED_STATEMENTS }: { readOnly: boolean; statements?: number },
): SqliteConnection {
  const raw = new DatabaseSync(file, { readOnly, timeout: 5000 });
  const cache = new LRUCache<string, StatementSync>({ max: statements, memoMethod: (sql) => raw.prepare(sql) });
  const prepare = (sql: string) => cache.memo(sql);
  const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database: asSqliteDatabase(raw, prepare) }) });
  return { raw, kysely, prepare };
}

/** The small adapter under Kysely's dialect, which expects the interface of another driver. */
function asSqliteDatabase(raw: DatabaseSync, prepare: (sql: string) => StatementSync): SqliteDatabase {
  return {
    close: () => raw.close(),
    prepare: (sql) => {
      const prepared = prepare(sql);
      return {
        reader: prepared.columns().length > 0,
        all: (parameters) => prepared.all(...(parameters as SQLInputValue[])),
        iterate: (parameters) => prepared.iterate(...(parameters as SQLInputValue[])),
        run: (parameters) => prepared.run(...(parameters as SQLInputValue[])),
      };
    },
  };
}
