/**
 * `node api-server/src/store/migrations/dumps/write.ts LAST`: keeps a database of every schema version up to LAST that has no file here yet, with
 * two rows in each table. To be run for a release. A file that is there is never written again: it stands for what an older
 * program left behind.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { sqlite } from '../../db/dialect.ts';
import { migrations } from '../index.ts';

const NOW = 1_790_000_000_000;
/** What a generic value would not be: words that the program compares, and moments in their order. */
const KNOWN: Record<string, (row: number) => SQLInputValue> = {
  status: () => 'completed',
  stage: () => 'production',
  kind: () => 'step',
  executor: () => 'gateway',
  source: () => 'generic',
  run_id: (row) => `runs-id-${row}`,
  pipeline_name: () => 'checkout',
  step_name: (row) => `look/${row}`,
  dedup_key: () => null,
  completed_at: (row) => NOW + row * 60_000 + 5000,
};

const db = new DatabaseSync(':memory:');
db.exec(`CREATE TABLE schema_migrations (id TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT`);
const last = migrations.findIndex(({ id }) => id === process.argv[2]);
if (last < 0) throw new Error('name the last migration of the release, such as 0009-versions');
for (const { id, up } of migrations.slice(0, last + 1)) {
  for (const statement of up(sqlite.words)) db.exec(statement);
  db.prepare('INSERT INTO schema_migrations VALUES (?, ?)').run(id, NOW);
  for (const table of tables()) if (countOf(table) === 0) [0, 1].forEach((row) => fill(table, row));
  const file = join(import.meta.dirname, `${id}.sql`);
  if (!existsSync(file)) writeFileSync(file, dump());
}

function tables(): string[] {
  const rows = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all();
  return rows.map(({ name }) => String(name));
}

function countOf(table: string): number {
  return Number(db.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.['n']);
}

function fill(table: string, row: number): void {
  const columns = db.prepare(`SELECT name, type FROM pragma_table_info('${table}')`).all();
  const values = columns.map(({ name, type }) => valueOf(table, String(name), { type: String(type), row }));
  db.prepare(`INSERT INTO "${table}" VALUES (${columns.map(() => '?').join(', ')})`).run(...values);
}

function valueOf(table: string, column: string, { type, row }: { type: string; row: number }): SQLInputValue {
  const known = KNOWN[column];
  if (known) return known(row);
  if (type === 'INTEGER') return column.endsWith('_at') ? NOW + row * 60_000 : row + 1;
  if (type === 'REAL') return row + 0.5;
  return type === 'BLOB' ? Buffer.from([row, 0, 255]) : `${table}-${column}-${row}`;
}

function dump(): string {
  const schema = db
    .prepare(
      `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, rowid`,
    )
    .all()
    .map(({ sql }) => `${String(sql)};`);
  const rows = tables().flatMap((table) =>
    db
      .prepare(`SELECT * FROM "${table}"`)
      .all()
      .map((row) => `INSERT INTO "${table}" VALUES (${Object.values(row).map(literal).join(', ')});`),
  );
  return `${['PRAGMA foreign_keys = OFF;', ...schema, ...rows].join('\n')}\n`;
}

function literal(value: SQLInputValue): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}
