import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAuthority, type TestAuthority } from '../../web/fixtures/certificates.ts';
import { openDatabase } from './open-database.ts';
import { type PostgresServer, startPostgres } from '../fixtures/postgres-server.ts';
import { connectionSettings, openSession } from './postgres-connection.ts';

let authority: TestAuthority;
let stranger: TestAuthority;
let server: PostgresServer;
let port: number;

beforeAll(async () => {
  authority = createTestAuthority();
  stranger = createTestAuthority('a stranger');
  server = await startOnFreePort();
});
afterAll(async () => {
  await server.remove();
  authority.remove();
  stranger.remove();
});

/** The server takes no port 0, and somebody else may have been faster. */
async function startOnFreePort(): Promise<PostgresServer> {
  const pair = authority.issue('server');
  for (let tries = 1; ; tries += 1) {
    port = await freePort();
    try {
      return await startPostgres({ durable: false, tls: { port, ...pair } });
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port: free } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return free;
}

const urlWith = (ca: string) =>
  `postgres://signalbox@localhost:${port}/postgres?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`;

test('a url with sslmode and sslrootcert connects over TLS', async () => {
  const session = await openSession(connectionSettings(urlWith(authority.cert), { statement: 0, lock: 0 }));
  try {
    const { rows } = await session.query({ text: 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()' });
    expect(rows).toEqual([{ ssl: true }]);
  } finally {
    await session.end();
  }
});

test('a server whose certificate somebody else signed is refused at the start', async () => {
  const opening = openDatabase({ url: urlWith(stranger.cert), autoMigrate: true, now: Date.now });
  await expect(opening).rejects.toThrow(/^database\.url: localhost:\d+\/postgres cannot be used: .*certificate/);
});
