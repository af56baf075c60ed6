import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import { fts5, type SearchedRuns, tsvector } from './search/terms.ts';
import { postgresFault, sqliteFault, type Fault } from './faults.ts';
import type { Tables } from './schema.ts';
import type { TableWords } from '../migrations/table-words.ts';

/** Every difference between the embedded database and Postgres. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly words: TableWords;
  /** What an error of the database means for the job that met it. */
  faultOf(error: unknown): Fault;
  tableExists(name: string): RawBuilder<{ found: number }>;
  /** `column` holds `words` somewhere, without regard to case. */
  contains(column: string, words: string): RawBuilder<boolean>;
  /** `column` holds `text` somewhere, letter by letter. */
  includes(column: string, text: string): RawBuilder<boolean>;
  /** The strings of a JSON array as the rows of a table with the one column `value`. */
  listed(json: string): RawBuilder<{ value: string }>;
  /** Aggregates rows to the text of a JSON object. */
  objectOf(key: string, value: string): RawBuilder<string>;
  /** The text of `field` in the JSON object in `column`; null where there is none. */
  fieldOf(column: string, field: string): RawBuilder<string | null>;
  /** The text in `column` up to the first `sign`, with it or without. */
  upTo(column: string, sign: string): RawBuilder<string>;
  /**
   * How the rows of a table that changed are found: `mark` says where the database is now, and `since` is true of what was stored after
   * that, and of all rows where the mark is of another database or too old. Null where the rows do not tell.
   */
  readonly changes: { mark: RawBuilder<string>; since(mark: string): RawBuilder<boolean> } | null;
  /** The JSON text in `column` has an object `field` in which `key` is the string `value`; both are data, never part of a path. */
  hasEntry(column: string, field: string, entry: { key: string; value: string }): RawBuilder<boolean>;
  readonly searched: SearchedRuns;
  /**
   * What a row that became short also changes, so that its page is filled again: SQLite joins half-empty pages only where a row leaves one. A run
   * goes `away` and `back`, a step to a place below those of new ones, beside the others of its run. A server needs none of it.
   */
  readonly narrowed: {
    away: { seq: RawBuilder<never> };
    back: RawBuilder<unknown>;
    /** `nth` tells a step from the others of its run. */
    step(nth: RawBuilder<number>): { rowid: RawBuilder<number> };
  } | null;
}

/** `words` as a pattern for LIKE with the escape sign `\`. */
export const likeAnywhere = (words: string): string => `%${words.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;

export const sqlite: Dialect = {
  name: 'sqlite',
  words: {
    autoId: 'integer PRIMARY KEY AUTOINCREMENT',
    integer: 'integer',
    real: 'real',
    text: 'text',
    bytes: 'blob',
    table: 'STRICT',
    keyed: 'STRICT, WITHOUT ROWID',
    // Terms are cut before they come here. Merging is left to the writer, which does a little of it at a time.
    wordsOf: (table) => [
      `CREATE VIRTUAL TABLE ${table} USING fts5(words, content='', contentless_delete=1, detail=none, prefix='1 2 3 4',
        tokenize="ascii tokenchars '='")`,
      `INSERT INTO ${table} (${table}, rank) VALUES ('automerge', 0), ('crisismerge', 1000)`,
    ],
  },
  faultOf: sqliteFault,
  tableExists: (name) => sql`select count(*) as found from sqlite_master where type = 'table' and name = ${name}`,
  contains: (column, words) => sql`lower(${sql.ref(column)}) like ${likeAnywhere(words.toLowerCase())} escape '\\'`,
  includes: (column, text) => sql`instr(${sql.ref(column)}, ${text}) > 0`,
  listed: (json) => sql`json_each(${json})`,
  objectOf: (key, value) => sql`json_group_object(cast(${sql.ref(key)} as text), ${sql.ref(value)})`,
  fieldOf: (column, field) => sql`${sql.ref(column)} ->> ${sql.lit(field)}`,
  changes: null,
  upTo: (column, sign) => sql`substr(${sql.ref(column)}, 1, instr(${sql.ref(column)}, ${sql.lit(sign)}))`,
  hasEntry: (column, field, { key, value }) =>
    sql`exists (select 1 from json_each(${sql.ref(column)}, '$.' || ${field}) as entry where entry.key = ${key} and entry.value = ${value})`,
  searched: fts5,
  narrowed: {
    away: { seq: sql`-seq` },
    back: sql`update runs set seq = -seq where seq < 0`,
    // 2^31 runs of 2^32 rows each, from the lowest number on. New rows follow the last one, so that where all are short those of one run
    // are beside several others': their own numbers do not tell them apart.
    step: (nth) => ({
      rowid: sql`(select seq from runs where runs.id = step_executions.run_id) * 4294967296 - 9223372036854775807 + ${nth}`,
    }),
  },
};

/** Escapes that Postgres cannot turn into text: NUL and halves of a surrogate pair. */
const NO_TEXT = String.raw`\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})`;

const asJson = (column: string) => sql`regexp_replace(${sql.ref(column)}, ${sql.lit(NO_TEXT)}, '\\\\ufffd', 'g')::json`;

export const postgres: Dialect = {
  name: 'postgres',
  words: {
    autoId: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    integer: 'bigint',
    real: 'double precision',
    text: 'text COLLATE "C"',
    bytes: 'bytea',
    table: '',
    keyed: '',
    wordsOf: (table, of) => [
      `CREATE TABLE ${table} (rowid bigint PRIMARY KEY REFERENCES ${of} ON DELETE CASCADE, words tsvector NOT NULL)`,
      // Entries that wait to be sorted in would be read by every question; the background job that adds them can do it at once.
      `CREATE INDEX ${table}_words ON ${table} USING gin (words) WITH (fastupdate = off)`,
    ],
  },
  faultOf: postgresFault,
  tableExists: (name) => sql`select count(to_regclass(${name})) as found`,
  // The column's own collation knows the letters of ASCII only.
  contains: (column, words) =>
    sql`lower(${sql.ref(column)} collate "default") like lower(${likeAnywhere(words)}::text collate "default") escape '\\'`,
  includes: (column, text) => sql`strpos(${sql.ref(column)}, ${text}) > 0`,
  objectOf: (key, value) => sql`json_object_agg(${sql.ref(key)}, ${sql.ref(value)})::text`,
  listed: (json) => sql`(select json_array_elements_text(${json}::json) as value)`,
  fieldOf: (column, field) => sql`${asJson(column)} ->> ${sql.lit(field)}`,
  // A transaction that has not ended yet has at least the number of the mark.
  changes: {
    mark: sql`pg_snapshot_xmin(pg_current_snapshot())::text`,
    since: (mark) => sql`(age(xmin) <= age(${mark}::xid8::xid) or age(${mark}::xid8::xid) < 0)`,
  },
  upTo: (column, sign) => sql`split_part(${sql.ref(column)}, ${sql.lit(sign)}, 1)`,
  hasEntry: (column, field, { key, value }) => {
    const object = sql`${asJson(column)} -> ${field}`;
    const entries = sql`json_each_text(case when json_typeof(${object}) = 'object' then ${object} end)`;
    return sql`exists (select 1 from ${entries} as entry where entry.key = ${key} and entry.value = ${value})`;
  },
  searched: tsvector,
  narrowed: null,
};

/** The dialect that `db` speaks. */
export const dialectOf = (db: Kysely<Tables>): Dialect =>
  db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite;
