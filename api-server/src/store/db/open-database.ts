import type { Database, DatabaseLocation, DatabaseOptions } from './database.ts';
import { openSqlite } from './sqlite-database.ts';

/** Opens the database that the configuration names and brings its schema up to date. */
export async function openDatabase(options: DatabaseLocation & DatabaseOptions): Promise<Database> {
  if ('file' in options) return openSqlite(options);
  // Its client is loaded only where it is used.
  const { openPostgres } = await import('./postgres-database.ts');
  return openPostgres(options);
}
