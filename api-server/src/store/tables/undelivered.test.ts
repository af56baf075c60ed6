import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AT } from '../../notify/fixtures/run.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { undelivered } from './notification-list.ts';
import { createOutbox } from './outbox.ts';

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

const { signal } = new AbortController();

interface Kind {
  rows: number;
  channel?: string;
  status: string;
  error?: string | null;
  at?: number;
}

/** Messages of one kind, each a millisecond after the one before. */
const store = (name: string, { rows, channel = 'webhook', status, error = 'away', at = AT }: Kind) =>
  database.write(async ({ db }) => {
    const number = sql`cast(${at} as bigint) + n`;
    await sql`INSERT INTO notifications (id, pipeline_name, stage, event, channel, source, message, status, attempts, due_at, created_at, error)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(rows)})
      SELECT ${sql.lit(name)} || n, 'checkout', 'production', 'complete', ${sql.lit(channel)}, '{}', '{}', ${sql.lit(status)}, 1, ${number}, ${number},
        ${sql.lit(error)} FROM numbers`.execute(db);
  });

/** The outbox, with the reads that are not made beside the event loop. */
const watched = () => {
  const inPlace: string[] = [];
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => {
      inPlace.push(node.kind);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  return { outbox: createOutbox({ ...database, db }), inPlace };
};

test('messages that did not arrive are counted beside the event loop', async () => {
  await store('f', { rows: 3, status: 'failed' });
  await store('w', { rows: 2, status: 'pending' });
  await store('new', { rows: 2, status: 'pending', error: null });
  const { outbox, inPlace } = watched();
  expect(await outbox.undelivered(signal)).toEqual([
    { channel: 'webhook', state: 'failed', count: 3 },
    { channel: 'webhook', state: 'waiting', count: 2 },
  ]);
  expect(inPlace).toEqual([]);
});

test('of each status so many are counted, those first that failed last or are due first', async () => {
  await store('old', { rows: 9, status: 'failed' });
  await store('f', { rows: 1, status: 'failed', channel: 'slack', at: AT + 100 });
  await store('w', { rows: 1, status: 'pending', channel: 'slack' });
  await store('late', { rows: 9, status: 'pending', at: AT + 100 });
  const first = [
    { channel: 'slack', state: 'failed', count: 1 },
    { channel: 'webhook', state: 'failed', count: 4 },
    { channel: 'slack', state: 'waiting', count: 1 },
    { channel: 'webhook', state: 'waiting', count: 4 },
  ];
  expect(await undelivered(database.db, 5)).toEqual(first);
});

/** Rows that the deletes of a transaction may look at: those of their list of ids, on the writing connection. */
const deletesOf = async (work: (watching: Database) => Promise<unknown>) => {
  const listed: number[] = [];
  const notingIn = (db: Kysely<Tables>) =>
    db.withPlugin({
      transformQuery: ({ node }) => {
        const { sql: text, parameters } = db.getExecutor().compileQuery(node, { queryId: 'noted' });
        const isById = /^delete from "notifications" where "id" in \([^s]/.test(text);
        listed.push(isById ? parameters.length : Infinity);
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
  await work({
    ...database,
    write: (job) =>
      database.write((tx) => job({ ...tx, db: notingIn(tx.db), run: () => Promise.reject(new Error('a scan')) })),
  });
  return listed;
};

test('old messages that did not arrive are looked through beside the writes, and what is old behind them goes', async () => {
  await store('f', { rows: 1_200, status: 'failed' });
  await store('s', { rows: 30, status: 'sent', at: AT + 2_000 });
  await store('same', { rows: 1, status: 'sent', at: AT + 2_000 });
  await store('young', { rows: 1, status: 'sent', at: AT + 9_000 });
  const before = { done: AT + 9_000, undelivered: AT };
  const deletes = await deletesOf(async (watching) =>
    expect(await createOutbox(watching).prune(before, signal)).toEqual({ done: 31, undelivered: 0 }),
  );
  expect(Math.max(...deletes)).toBeLessThan(100);
  const left = database.db.selectFrom('notifications').select(['status', ({ fn }) => fn.countAll().as('n')]);
  const rows = await left.groupBy('status').orderBy('status').execute();
  expect(rows.map(({ status, n }) => [status, Number(n)])).toEqual([
    ['failed', 1_200],
    ['sent', 1],
  ]);
});

test('a message that is sent again while old ones are looked for stays', async () => {
  await store('f', { rows: 1, status: 'failed' });
  const outbox = createOutbox({
    ...database,
    write: async (job) => {
      await database.write(({ db }) => db.updateTable('notifications').set({ status: 'sent' }).execute());
      return database.write(job);
    },
  });
  expect(await outbox.prune({ done: AT, undelivered: AT + 9 }, signal)).toEqual({ done: 0, undelivered: 0 });
});
