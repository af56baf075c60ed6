import { connectionSettings, openSession } from '../../../api-server/src/store/db/postgres-connection.ts';

/** Runs statements one after the other, each without a transaction around it and for as long as it takes; answers the rows of the last one. */
export async function askServer(url: string, ...statements: string[]): Promise<unknown[]> {
  const session = await openSession(connectionSettings(url, { statement: 0, lock: 0 }));
  try {
    let rows: unknown[] = [];
    for (const text of statements) ({ rows } = await session.query({ text }));
    return rows;
  } finally {
    await session.end();
  }
}
