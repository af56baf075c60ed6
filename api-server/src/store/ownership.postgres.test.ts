import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from './fixtures/postgres-server.ts';
import { ownDatabase } from './ownership.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server.remove());

const own = (patienceMs: number) => ownDatabase(server.url('postgres'), { patienceMs, onLost: () => undefined });

test('a second api-server is refused while the first is there, and let in when it goes', async () => {
  const first = await own(0);
  await expect(own(300)).rejects.toThrow('another api-server uses this database');
  const waiting = own(20_000);
  await first.release();
  await (await waiting).release();
});
