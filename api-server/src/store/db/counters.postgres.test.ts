import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { bumpCounter, createCounterReader } from './counters.ts';
import type { Database } from './database.ts';
import { postgres } from './dialect.ts';

let site: TestDatabase;
let database: Database;
beforeAll(async () => {
  site = await newTestDatabase();
  database = await site.open();
});
afterAll(async () => {
  await database.close();
  await site.remove();
});

async function metricsBy(read: ReturnType<typeof createCounterReader>): Promise<string[]> {
  const metrics: string[] = [];
  for await (const rows of read()) metrics.push(...rows.map(({ metric }) => metric));
  return metrics;
}

test('a scrape leaves out no roll-up of a transaction that is open during the scrape before, while later ones end', async () => {
  const read = createCounterReader({ reader: () => database.db });
  await metricsBy(read);
  const [written, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = database.write(async (tx) => {
    await tx.run(bumpCounter, { metric: 'late', labels: '["x"]', value: 1 });
    written.resolve();
    await ended.promise;
  });
  await written.promise;
  await sql`select pg_current_xact_id()`.execute(database.db);
  expect(await metricsBy(read)).not.toContain('late');
  ended.resolve();
  await late;
  expect(await metricsBy(read)).toContain('late');
});

test('a mark of a server that is ahead of this one finds all rows', async () => {
  const { changes } = postgres;
  if (!changes) throw new Error('Postgres tells no changes');
  await database.write((tx) => tx.run(bumpCounter, { metric: 'm', labels: '["x"]', value: 1 }));
  const found = async (at: bigint) => {
    const rows = await database.db
      .selectFrom('counters')
      .select('metric')
      .where(changes.since(String(at)))
      .execute();
    return rows.map(({ metric }) => metric);
  };
  // Transactions of other databases of the server count, too.
  const now = await vi.waitFor(async () => {
    const { rows } = await sql<{ mark: string }>`select ${changes.mark} as mark`.execute(database.db);
    const mark = BigInt(rows[0]?.mark ?? 0);
    expect(await found(mark)).toEqual([]);
    return mark;
  });
  expect(await found(now + 1_000_000n)).toContain('m');
});
