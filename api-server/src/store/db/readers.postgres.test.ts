import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import type { Database } from './database.ts';

let site: TestDatabase;
let database: Database;
beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

const sleeping = async () => {
  const { rows } = await sql<{ n: string }>`select count(*) as n from pg_stat_activity
    where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`.execute(database.db);
  return Number(rows[0]?.n);
};

test('the server stops a query whose caller has gone, and its connection serves the next one', async () => {
  const leaves = new AbortController();
  const asked = [1, 2, 3, 4].map(() => sql`select pg_sleep(600)`.execute(database.reader(leaves.signal)));
  const ended = Promise.allSettled(asked);
  await vi.waitFor(async () => expect(await sleeping()).toBe(3), { timeout: 30_000 });
  leaves.abort();
  expect((await ended).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  await vi.waitFor(async () => expect(await sleeping()).toBe(0), { timeout: 30_000 });
  const { rows } = await sql`select 1 as one`.execute(database.reader(new AbortController().signal));
  expect(rows).toEqual([{ one: 1 }]);
});

test('reads that take long leave the connections of the others alone', async () => {
  const leaves = new AbortController();
  const asked = Promise.allSettled(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => sql`select pg_sleep(600)`.execute(database.reader(leaves.signal))),
  );
  await vi.waitFor(async () => expect(await sleeping()).toBe(3), { timeout: 30_000 });
  const { rows } = await sql`select 1 as one`.execute(database.db);
  expect(rows).toEqual([{ one: 1 }]);
  leaves.abort();
  await asked;
});

const SLEEP = new URL('../fixtures/sleep-on-server.ts', import.meta.url);
const COUNT_MARKS = new URL('../fixtures/count-marks.ts', import.meta.url);

test('the server stops what a question asks when its caller has gone, and the next question is answered', async () => {
  await database.write(({ db }) => db.insertInto('marks').values({ name: 'm', value: 7 }).execute());
  const leaves = new AbortController();
  const ended = Promise.allSettled([1, 2, 3].map(() => database.ask(SLEEP, null, leaves.signal)));
  await vi.waitFor(async () => expect(await sleeping()).toBe(2), { timeout: 30_000 });
  leaves.abort();
  expect((await ended).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  expect(await database.ask(COUNT_MARKS, ['m', 'n'], new AbortController().signal)).toEqual({ marks: 1 });
  await vi.waitFor(async () => expect(await sleeping()).toBe(0), { timeout: 30_000 });
});

test('a question that fails says why', async () => {
  await database.write(({ db }) => db.schema.dropTable('marks').execute());
  await expect(database.ask(COUNT_MARKS, ['m'], new AbortController().signal)).rejects.toThrow(
    '"marks" does not exist',
  );
});

test('a read is neither compiled by the server nor spread over its processes, and prefers an index', async () => {
  const query = sql<object>`select current_setting('jit') as jit, current_setting('max_parallel_workers_per_gather') as n,
    current_setting('random_page_cost') as page`;
  const { signal } = new AbortController();
  const asked = [database.db, database.reader(signal)].map((db) => query.execute(db));
  for (const { rows } of await Promise.all(asked)) expect(rows).toEqual([{ jit: 'off', n: '0', page: '1.1' }]);
});
