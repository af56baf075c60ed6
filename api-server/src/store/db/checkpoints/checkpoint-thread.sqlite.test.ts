import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newTestDatabase } from '../../fixtures/test-database.ts';
import { bumpCounter } from '../counters.ts';
import { identityOf } from './file-identity.ts';
import { COMMITS, createCheckpointThread } from './checkpoint-thread.ts';

let folder: string;
let file: string;
let writer: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoint-'));
  file = join(folder, 'a.db');
  writer = new DatabaseSync(file);
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (text TEXT) STRICT');
});
afterEach(() => {
  writer.close();
  rmSync(folder, { recursive: true });
});

const sizeOf = (path: string) => statSync(path).size;

/** Commits as often, and answers by how much the file of the database grew. */
async function grownAfter(commits: number, identity: string | null): Promise<number> {
  const before = sizeOf(file);
  const thread = createCheckpointThread({ file, identity });
  const insert = writer.prepare('INSERT INTO t VALUES (?)');
  for (let commit = 0; commit < commits; commit++) {
    insert.run('x'.repeat(10_000));
    thread.committed();
  }
  await new Promise(setImmediate);
  await thread.close();
  return sizeOf(file) - before;
}

test('what is committed is moved into the file after so many commits, and not before', async () => {
  expect(await grownAfter(COMMITS - 1, identityOf(file))).toBe(0);
  expect(await grownAfter(COMMITS, identityOf(file))).toBeGreaterThan(COMMITS * 10_000);
});

test('a file that was put in the place of the open one gets nothing', async () => {
  expect(await grownAfter(COMMITS, 'another')).toBe(0);
});

test('a file that is gone is not made again, and the service goes on', async () => {
  const gone = join(folder, 'gone.db');
  const thread = createCheckpointThread({ file: gone, identity: null });
  for (let commit = 0; commit < COMMITS; commit++) thread.committed();
  await new Promise(setImmediate);
  await thread.close();
  expect(existsSync(gone)).toBe(false);
});

test('the embedded database has its checkpoints made by the thread', async () => {
  const site = await newTestDatabase();
  const database = await site.open();
  const path = (site.location as { file: string }).file;
  try {
    const before = sizeOf(path);
    for (let commit = 0; commit < COMMITS; commit++)
      await database.write((tx) => tx.run(bumpCounter, { metric: `m${commit}`, labels: 'x'.repeat(10_000), value: 1 }));
    await expect.poll(() => sizeOf(path)).toBeGreaterThan(before);
  } finally {
    await database.close();
    await site.remove();
  }
});
