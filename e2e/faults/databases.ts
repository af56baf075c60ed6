import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseLocation } from '../../api-server/src/store/db/database.ts';
import { postgresBinaries } from '../../api-server/src/store/fixtures/postgres-binaries.ts';
import { startPostgres } from '../../api-server/src/store/fixtures/postgres-server.ts';
import { connectionSettings, openSession } from '../../api-server/src/store/db/postgres-connection.ts';

export type Kind = 'sqlite' | 'postgres';

/** The embedded one, and Postgres where its programs are on this machine. */
export const KINDS: readonly Kind[] = postgresBinaries() === null ? ['sqlite'] : ['sqlite', 'postgres'];

/** Makes an empty database for each round. */
export interface Databases extends AsyncDisposable {
  fresh(directory: string): Promise<DatabaseLocation>;
}

export async function openDatabases(kind: Kind): Promise<Databases> {
  if (kind === 'sqlite') {
    return {
      fresh: (directory) => Promise.resolve({ file: join(directory, 'data', 'service.db') }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const server = await startPostgres({ durable: false });
  return {
    fresh: async () => {
      const name = `faults_${randomUUID().replaceAll('-', '')}`;
      const session = await openSession(connectionSettings(server.url('postgres'), { statement: 0, lock: 0 }));
      try {
        await session.query({ text: `CREATE DATABASE ${name}` });
      } finally {
        await session.end();
      }
      return { url: server.url(name) };
    },
    [Symbol.asyncDispose]: () => server.remove(),
  };
}

/** What a database holds on the disk. */
export async function bytesOf(location: DatabaseLocation): Promise<number> {
  if ('file' in location) return statSync(location.file).size + statSync(`${location.file}-wal`).size;
  const session = await openSession(connectionSettings(location.url, { statement: 0, lock: 0 }));
  try {
    const { rows } = await session.query({ text: 'SELECT pg_database_size(current_database()) AS bytes' });
    return (rows[0] as { bytes: number }).bytes;
  } finally {
    await session.end();
  }
}
