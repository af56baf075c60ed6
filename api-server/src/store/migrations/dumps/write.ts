/**
 * `node api-server/src/store/migrations/dumps/write.ts LAST`: keeps a database of every schema version up to LAST that has no file here yet, of
 * SQLite and of Postgres, with two rows in each table. To be run with each new migration, for the version before it. A file that is there
 * is never written again: it stands for what an older program left behind.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { migrations } from '../index.ts';
import { type Column, type DumpedDatabase, postgresDatabase, sqliteDatabase, type Value } from './dumped-database.ts';

const NOW = 1_790_000_000_000;
/** What a generic value would not be: words that the program compares, and moments in their order. */
const KNOWN: Record<string, (row: number) => Value> = {
  status: () => 'completed',
  stage: () => 'production',
  kind: () => 'step',
  executor: () => 'gateway',
  source: () => 'generic',
  run_id: (row) => `runs-id-${row}`,
  set_id: (row) => `golden_sets-id-${row}`,
  pipeline_name: () => 'checkout',
  step_name: (row) => `look/${row}`,
  dedup_key: () => null,
  completed_at: (row) => NOW + row * 60_000 + 5000,
};

const last = migrations.findIndex(({ id }) => id === process.argv[2]);
if (last < 0) throw new Error('name the last version to keep, such as 0009-versions');
async function keepEach(database: DumpedDatabase): Promise<void> {
  const { integer, text, table } = database.words;
  await database.run(
    `CREATE TABLE schema_migrations (id ${text} PRIMARY KEY, applied_at ${integer} NOT NULL) ${table}`,
  );
  for (const { id, up } of migrations.slice(0, last + 1)) {
    for (const statement of up(database.words)) await database.run(statement);
    await database.insert('schema_migrations', { id, applied_at: NOW });
    for (const [name, columns] of await database.emptyTables())
      for (const row of [0, 1]) await database.insert(name, rowOf(name, columns, row));
    const file = join(import.meta.dirname, database.folder, `${id}.sql.gz`);
    if (!existsSync(file)) writeFileSync(file, gzipSync(await database.dump(), { level: 9 }));
  }
}

const rowOf = (table: string, columns: readonly Column[], row: number): Record<string, Value> =>
  Object.fromEntries(columns.map((column) => [column.name, valueOf(table, column, row)]));

function valueOf(table: string, { name, holds }: Column, row: number): Value {
  const known = KNOWN[name];
  if (known) return known(row);
  if (holds === 'integer') return name.endsWith('_at') ? NOW + row * 60_000 : row + 1;
  if (holds === 'real') return row + 0.5;
  return holds === 'bytes' ? Buffer.from([row, 0, 255]) : `${table}-${name}-${row}`;
}

for (const open of [sqliteDatabase, postgresDatabase]) {
  const database = await open();
  try {
    await keepEach(database);
  } finally {
    await database.close();
  }
}
