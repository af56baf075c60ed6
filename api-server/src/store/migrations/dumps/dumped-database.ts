import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { postgres, sqlite } from '../../db/dialect.ts';
import { connectionSettings, openSession } from '../../db/postgres-connection.ts';
import { postgresBinaries } from '../../fixtures/postgres-binaries.ts';
import { startPostgres } from '../../fixtures/postgres-server.ts';
import type { TableWords } from '../table-words.ts';

export type Value = string | number | null | Buffer;

export interface Column {
  name: string;
  holds: 'integer' | 'real' | 'text' | 'bytes';
}

/** A database in which a dump is made. */
export interface DumpedDatabase {
  readonly words: TableWords;
  /** Of its dumps, beside this file. */
  readonly folder: 'sqlite' | 'postgres';
  run(statement: string): Promise<void>;
  insert(table: string, row: Record<string, Value>): Promise<void>;
  /** In the order of their creation. */
  emptyTables(): Promise<Map<string, Column[]>>;
  dump(): Promise<string>;
  close(): Promise<void>;
}

const HOLDS: Readonly<Record<string, Column['holds']>> = {
  INTEGER: 'integer',
  bigint: 'integer',
  REAL: 'real',
  'double precision': 'real',
  BLOB: 'bytes',
  bytea: 'bytes',
};
const columnOf = ({ name, type }: Record<string, unknown>): Column => ({
  name: String(name),
  holds: HOLDS[String(type)] ?? 'text',
});
const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

const tablesOf = (type: 'table' | 'virtual') =>
  `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = '${type}' AND name NOT LIKE 'sqlite_%'`;
const OWN_TABLES = tablesOf('table');
/** Their rows stand in tables that they make themselves, and are made again from the rows of others. */
const INDEXES_OF_WORDS = tablesOf('virtual');

export function sqliteDatabase(): Promise<DumpedDatabase> {
  const db = new DatabaseSync(':memory:');
  const all = (sql: string) => db.prepare(sql).all();
  const tables = () =>
    all(`SELECT name FROM sqlite_master WHERE name IN (${OWN_TABLES})`).map(({ name }) => String(name));
  const rowsOf = (table: string) =>
    all(`SELECT * FROM "${table}"`).map(
      (row) => `INSERT INTO "${table}" VALUES (${Object.values(row).map(literal).join(', ')});`,
    );
  return Promise.resolve({
    words: sqlite.words,
    folder: 'sqlite',
    run: (statement) => Promise.resolve(db.exec(statement)),
    insert: (table, row) => {
      const marks = Object.keys(row).map(() => '?');
      db.prepare(`INSERT INTO "${table}" (${quoted(Object.keys(row))}) VALUES (${marks.join(', ')})`).run(
        ...Object.values(row),
      );
      return Promise.resolve();
    },
    emptyTables: () => {
      const empty = tables().filter((table) => db.prepare(`SELECT 1 FROM "${table}"`).get() === undefined);
      const columns = (table: string) => all(`SELECT name, type FROM pragma_table_info('${table}')`).map(columnOf);
      return Promise.resolve(new Map(empty.map((table) => [table, columns(table)])));
    },
    dump: () => {
      const schema = all(
        `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name IN (${OWN_TABLES} UNION ALL ${INDEXES_OF_WORDS}) ORDER BY type DESC, rowid`,
      ).map(({ sql }) => `${String(sql)};`);
      const lines = ['PRAGMA foreign_keys = OFF;', ...schema, ...tables().flatMap(rowsOf)];
      return Promise.resolve(`${lines.join('\n')}\n`);
    },
    close: () => Promise.resolve(db.close()),
  });
}

function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** What `pg_dump` writes for its own program, and settings that another server may not know. */
const NOT_KEPT = /^(--|\\|SET |SELECT pg_catalog\.set_config)/;

export async function postgresDatabase(): Promise<DumpedDatabase> {
  const server = await startPostgres({ durable: false });
  const url = server.url('postgres');
  const session = await openSession(connectionSettings(url, { statement: 0, lock: 0 }));
  const all = async (text: string) => (await session.query({ text })).rows as Record<string, unknown>[];
  return {
    words: postgres.words,
    folder: 'postgres',
    run: async (text) => void (await session.query({ text })),
    insert: async (table, row) => {
      const marks = Object.keys(row).map((_, at) => `$${at + 1}`);
      const text = `INSERT INTO "${table}" (${quoted(Object.keys(row))}) VALUES (${marks.join(', ')})`;
      await session.query({ text, values: Object.values(row) });
    },
    emptyTables: async () => {
      const tables = await all(
        `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY oid`,
      );
      const empty = new Map<string, Column[]>();
      for (const { name } of tables) {
        if ((await all(`SELECT 1 FROM "${String(name)}" LIMIT 1`)).length > 0) continue;
        // A column that the server numbers is left to it.
        const columns = await all(
          `SELECT column_name AS name, data_type AS type FROM information_schema.columns
            WHERE table_name = '${String(name)}' AND is_identity = 'NO' ORDER BY ordinal_position`,
        );
        empty.set(String(name), columns.map(columnOf));
      }
      return empty;
    },
    dump: () => {
      const program = join(postgresBinaries() ?? '', 'pg_dump');
      const text = execFileSync(program, ['--inserts', '--no-owner', '--no-privileges', url], { encoding: 'utf8' });
      const lines = text.split('\n').filter((line) => line !== '' && !NOT_KEPT.test(line));
      return Promise.resolve(`${lines.join('\n')}\n`);
    },
    close: async () => {
      await session.end();
      await server.remove();
    },
  };
}
