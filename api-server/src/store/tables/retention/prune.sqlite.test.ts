import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openSqlite } from '../../db/sqlite-database.ts';
import { pruneRuns } from '../prune.ts';
import { giveBackPages } from './free-pages.ts';

const DAY_MS = 86_400_000;
const RUNS = 3_000;

const RUN = {
  pipeline_name: 'disk',
  definition_hash: 'h',
  source: 'generic',
  status: 'completed',
  stage: 'production',
  context: '{}',
  raw: 'x'.repeat(2_000),
  input_tokens: 0,
  output_tokens: 0,
  unpriced_steps: 0,
  warning_count: 0,
};

/** Runs of a day each, the oldest first, with rows of 2 KB. */
const fill = (database: Database) =>
  database.write(async ({ db }) => {
    for (let n = 1; n <= RUNS; n += 1) {
      const at = n * DAY_MS;
      const row = { ...RUN, id: `run-${n}`, triggered_at: at, completed_at: at + 1 };
      await db.insertInto('runs').values(row).execute();
    }
  });

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-prune-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'signalbox.db');
}

async function prunedFile(file: string): Promise<{ before: number; after: number; pages: number }> {
  const database = await openSqlite({ file, autoMigrate: true, now: () => 1 });
  await fill(database);
  await database.close();
  const before = statSync(file).size;
  const again = await openSqlite({ file, autoMigrate: true, now: () => 1 });
  expect(await pruneRuns(again, 10, RUNS * DAY_MS)).toBe(RUNS - 11);
  const pages = again.giveBack ? await giveBackPages(again.giveBack) : 0;
  await again.close();
  return { before, after: statSync(file).size, pages };
}

test('the file shrinks when most of its runs are removed', async () => {
  const { before, after, pages } = await prunedFile(newFile());
  expect(before).toBeGreaterThan(6_000_000);
  expect(pages).toBeGreaterThan(1_000);
  expect(after).toBeLessThan(before / 3);
});

test('a file of an older version keeps its size and works as before', async () => {
  const file = newFile();
  new DatabaseSync(file).exec('PRAGMA journal_mode = WAL; CREATE TABLE older (n integer); DROP TABLE older');
  const { before, after, pages } = await prunedFile(file);
  expect(pages).toBe(0);
  expect(after).toBeGreaterThanOrEqual(before);
});

test('removing runs never holds the writing connection for long', async () => {
  const database = await openSqlite({ file: newFile(), autoMigrate: true, now: () => 1 });
  onTestFinished(() => database.close());
  await fill(database);
  const longest = { rows: 0 };
  const counted: Pick<Database, 'db' | 'write'> & Database = {
    ...database,
    write: (job) =>
      database.write(async (tx) => {
        const rowsOf = async () =>
          Number(
            (
              await tx.db
                .selectFrom('runs')
                .select(({ fn }) => fn.countAll().as('n'))
                .executeTakeFirstOrThrow()
            ).n,
          );
        const before = await rowsOf();
        const result = await job(tx);
        longest.rows = Math.max(longest.rows, before - (await rowsOf()));
        return result;
      }),
  };
  await pruneRuns(counted, 10, RUNS * DAY_MS);
  expect(longest.rows).toBeGreaterThan(0);
  expect(longest.rows).toBeLessThanOrEqual(200);
});
