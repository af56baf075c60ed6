import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseLocation } from '../../api-server/src/store/db/database.ts';
import { startPostgres } from '../../api-server/src/store/fixtures/postgres-server.ts';
import { connectionSettings, openSession } from '../../api-server/src/store/db/postgres-connection.ts';

export type Kind = 'sqlite' | 'postgres';

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
