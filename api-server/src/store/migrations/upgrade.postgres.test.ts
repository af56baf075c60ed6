import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../db/open-database.ts';
import { connectionSettings, openSession, type Session } from '../db/postgres-connection.ts';
import { type CutProxy, startCutProxy } from '../fixtures/cut-proxy.ts';
import { type PostgresServer, startPostgres } from '../fixtures/postgres-server.ts';
import { newPostgresDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { migrations } from './index.ts';

const DUMPS = join(import.meta.dirname, 'dumps/postgres');
const dumps = readdirSync(DUMPS);
const versions = migrations.map(({ id }) => id);

let server: PostgresServer;
let proxy: CutProxy;
let site: TestDatabase;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  proxy = await startCutProxy(server.socket);
});
afterAll(async () => {
  await proxy.close();
  await server.remove();
});
beforeEach(async () => {
  site = await newPostgresDatabase(server.url(''));
});
afterEach(() => site.remove());

const urlOf = (database: TestDatabase) => ('url' in database.location ? database.location.url : '');
type Rows = Record<string, unknown>[];
type Ask = (text: string) => Promise<Rows>;

async function on<T>(database: TestDatabase, job: (ask: Ask) => Promise<T>): Promise<T> {
  const session: Session = await openSession(connectionSettings(urlOf(database), { statement: 0, lock: 0 }));
  try {
    return await job(async (text) => (await session.query({ text })).rows as Rows);
  } finally {
    await session.end();
  }
}

/** A database as the program of that schema version left it. */
const restore = (database: TestDatabase, dump: string) =>
  on(database, (ask) => ask(gunzipSync(readFileSync(join(DUMPS, dump))).toString()));

/** All but the ledger, with the columns they have now. */
const tablesIn = (ask: Ask) =>
  ask(`SELECT table_name AS name, string_agg(quote_ident(column_name), ', ' ORDER BY column_name) AS columns
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'schema_migrations' GROUP BY 1 ORDER BY 1`);

/** Every row of these tables, in these columns, but for the notes that a migration leaves of what the service does later. */
async function contentIn(ask: Ask, tables: Rows) {
  const content: Record<string, Rows> = {};
  for (const { name, columns } of tables) {
    const kept = name === 'marks' ? `WHERE name NOT LIKE 'backfill:%'` : '';
    content[String(name)] = await ask(
      `SELECT ${String(columns)} FROM ${String(name)} ${kept} ORDER BY ${String(columns)}`,
    );
  }
  return content;
}

const appliedIn = async (ask: Ask) =>
  (await ask('SELECT id FROM schema_migrations ORDER BY id')).map(({ id }) => String(id));

/** Columns, indexes and constraints, whatever the order in which they came. */
const schemaIn = async (ask: Ask) => ({
  columns:
    await ask(`SELECT relname, attname, format_type(atttypid, atttypmod) AS type, attcollation::regcollation::text AS collation,
      attnotnull, attidentity, pg_get_expr(adbin, adrelid) AS "default"
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped ORDER BY 1, 2`),
  indexes: await ask(`SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`),
  constraints: await ask(`SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`),
});
type Schema = Awaited<ReturnType<typeof schemaIn>>;

/** What there is to compare: one connection reads it all. */
const stateOf = (database: TestDatabase, tables: Rows) =>
  on(database, async (ask) => ({
    content: await contentIn(ask, tables),
    applied: await appliedIn(ask),
    schema: await schemaIn(ask),
  }));

async function upgrade(url: string): Promise<void> {
  const database = await openDatabase({ url, autoMigrate: true, now: () => 1 });
  await database.close();
}

async function schemaFrom(prepare: (database: TestDatabase) => Promise<unknown>): Promise<Schema> {
  const other = await newPostgresDatabase(server.url(''));
  try {
    await prepare(other);
    return await on(other, schemaIn);
  } finally {
    await other.remove();
  }
}
const freshSchema = () => schemaFrom((database) => upgrade(urlOf(database)));

test('a database of every schema version before this one is kept', () => {
  expect(dumps).toEqual(versions.slice(0, -1).map((id) => `${id}.sql.gz`));
});

test.each(dumps)('%s upgrades to the schema of a new database, and keeps every row', async (dump) => {
  await restore(site, dump);
  const tables = await on(site, tablesIn);
  const before = await stateOf(site, tables);
  expect(Object.values(before.content).every((rows) => rows.length > 0)).toBe(true);
  expect(before.applied).toEqual(versions.slice(0, dumps.indexOf(dump) + 1));
  await upgrade(urlOf(site));
  const { content } = before;
  expect(await stateOf(site, tables)).toEqual({ content, applied: versions, schema: await freshSchema() });
});

test('starts that end after each statement of the upgrade leave the old schema or the new one, and the next start goes on', async () => {
  const schemas = new Map<string | undefined, Schema>([[versions.at(-1), await freshSchema()]]);
  for (const dump of dumps)
    schemas.set(dump.replace('.sql.gz', ''), await schemaFrom((database) => restore(database, dump)));
  await restore(site, dumps[0] as string);
  const tables = await on(site, tablesIn);
  const { content } = await stateOf(site, tables);
  const url = `postgres://signalbox@127.0.0.1:${proxy.port}/${urlOf(site).split('/').at(-1)}`;
  let applied = 1;
  // Each start lives one statement longer than the one before, until a migration is complete.
  for (let statement = 1; applied < versions.length; statement += 1) {
    const cuts = proxy.cuts();
    proxy.cutAtStatement(statement, 'after');
    const error: unknown = await upgrade(url).catch((reason: unknown) => reason);
    const now = await stateOf(site, tables);
    expect(error instanceof Error).toBe(proxy.cuts() > cuts);
    expect(now.applied).toEqual(versions.slice(0, now.applied.length));
    expect([applied, applied + 1]).toContain(now.applied.length);
    expect(now).toMatchObject({ content, schema: schemas.get(now.applied.at(-1)) });
    if (now.applied.length > applied) statement = 0;
    applied = now.applied.length;
  }
  expect(proxy.cuts()).toBeGreaterThan(100);
  await upgrade(urlOf(site));
  expect((await stateOf(site, tables)).schema).toEqual(schemas.get(versions.at(-1)));
});
