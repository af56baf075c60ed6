import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DatabaseSync } from 'node:sqlite';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../migrations/index.ts';
import { migrate } from './migrate.ts';
import { openConnection } from './sqlite-connection.ts';
import { openSqlite } from './sqlite-database.ts';

const DUMPS = join(import.meta.dirname, '../migrations/dumps/sqlite');
const dumps = readdirSync(DUMPS);
const options = { autoMigrate: true, now: () => 1 };

function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-upgrade-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A database as the program of that schema version left it. */
function restore(dump: string, file: string): void {
  const db = new DatabaseSync(file);
  db.exec(gunzipSync(readFileSync(join(DUMPS, dump))).toString());
  db.close();
}

type Rows = Record<string, unknown>[];

function read<T>(file: string, job: (all: (sql: string) => Rows) => T): T {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return job((sql) =>
      db
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })),
    );
  } finally {
    db.close();
  }
}

/** Without the ones that an index of words consists of. */
const TABLES = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`;

/** Every row of these tables, in these columns. */
const contentOf = (file: string, columns?: Record<string, string[]>): Record<string, Rows> =>
  read(file, (all) => {
    const names = columns ? Object.keys(columns) : all(TABLES).map(({ name }) => String(name));
    const listed = (table: string) => columns?.[table]?.map((column) => `"${column}"`).join(', ') ?? '*';
    return Object.fromEntries(names.map((table) => [table, all(`SELECT ${listed(table)} FROM "${table}"`)]));
  });

const columnsOf = (file: string): Record<string, string[]> =>
  read(file, (all) =>
    Object.fromEntries(
      all(TABLES).map(({ name }) => [
        String(name),
        all(`SELECT name FROM pragma_table_info('${String(name)}')`).map((column) => String(column['name'])),
      ]),
    ),
  );

/** Columns and indexes, whatever the order in which they came. */
const schemaOf = (file: string) =>
  read(file, (all) => ({
    columns: all(TABLES).map(({ name }) => [
      name,
      all(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info('${String(name)}') ORDER BY name`),
    ]),
    indexes: all(`SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`),
    broken: all('PRAGMA foreign_key_check'),
  }));

async function upgrade(file: string): Promise<void> {
  const database = await openSqlite({ ...options, file });
  await database.close();
}

async function freshSchema(folder: string): Promise<ReturnType<typeof schemaOf>> {
  await upgrade(join(folder, 'fresh.db'));
  return schemaOf(join(folder, 'fresh.db'));
}

/** The ledger of the old rows and what was applied since. */
const LEDGER = 'schema_migrations';

/** A migration may leave a note of what the service does later. */
const withoutNotes = (content: Record<string, Rows>): Record<string, Rows> => {
  const marks = content['marks']?.filter(({ name }) => !String(name).startsWith('backfill:'));
  return { ...content, ...(marks && { marks }) };
};

test('a database of every schema version before this one is kept', () => {
  expect(dumps).toEqual(migrations.slice(0, -1).map(({ id }) => `${id}.sql.gz`));
});

test.each(dumps)('%s upgrades to the schema of a new database, and keeps every row', async (dump) => {
  const folder = scratch();
  const file = join(folder, 'old.db');
  restore(dump, file);
  const { [LEDGER]: ledger, ...before } = contentOf(file);
  const { [LEDGER]: _, ...columns } = columnsOf(file);
  expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
  await upgrade(file);
  expect(withoutNotes(contentOf(file, columns))).toEqual(withoutNotes(before));
  expect(read(file, (all) => all(`SELECT id FROM ${LEDGER}`))).toHaveLength(migrations.length);
  expect(ledger?.length).toBeLessThan(migrations.length);
  expect(schemaOf(file)).toEqual(await freshSchema(folder));
});

test('a process that is killed after any statement of the upgrade leaves what the next start upgrades', async () => {
  const folder = scratch();
  const file = join(folder, 'live/old.db');
  mkdirSync(join(folder, 'live'));
  restore(dumps[0] as string, file);
  const { [LEDGER]: _, ...columns } = columnsOf(file);
  const { [LEDGER]: __, ...before } = contentOf(file);
  const killed: string[] = [];
  // What is on the disk at this moment is what a killed process leaves.
  const snapshot: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      const copy = join(folder, String(killed.length));
      mkdirSync(copy);
      for (const name of ['old.db', 'old.db-wal'])
        if (existsSync(join(folder, 'live', name))) cpSync(join(folder, 'live', name), join(copy, name));
      killed.push(join(copy, 'old.db'));
      return Promise.resolve(result);
    },
  };
  const { raw, kysely } = openConnection(file, { readOnly: false });
  raw.exec('PRAGMA journal_mode = WAL');
  await migrate(kysely.withPlugin(snapshot), options);
  await kysely.destroy();
  expect(killed.length).toBeGreaterThan(50);
  const fresh = await freshSchema(folder);
  for (const copy of killed) {
    await upgrade(copy);
    expect(contentOf(copy, columns)).toEqual(before);
    expect(schemaOf(copy)).toEqual(fresh);
  }
});
