import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newTestDatabase } from '../../fixtures/test-database.ts';
import { bumpCounter } from '../counters.ts';
import { identityOf } from './file-identity.ts';
import { createReaderThreads } from '../reader-threads.ts';
import { COMMITS, createCheckpointThread, LONG_LOG } from './checkpoint-thread.ts';

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

/** Nobody reads. */
const alone = {
  finish: () => {
    writer.exec('PRAGMA wal_checkpoint(PASSIVE)');
    return true;
  },
  quietly: (checkpoint: () => Promise<void>) => void checkpoint(),
  gone: () => undefined,
};

const sizeOf = (path: string) => statSync(path).size;

/** Commits as often, and answers by how much the file of the database grew. */
async function grownAfter(commits: number, identity: string | null): Promise<number> {
  const before = sizeOf(file);
  const thread = createCheckpointThread({ file, identity }, alone);
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
  const thread = createCheckpointThread({ file: gone, identity: null }, alone);
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

test('a log that grows because somebody always reads begins anew once readers rested', async () => {
  const readers = createReaderThreads({ at: { file } });
  const thread = createCheckpointThread({ file, identity: identityOf(file) }, { ...alone, quietly: readers.quietly });
  const insert = writer.prepare('INSERT INTO t VALUES (?)');
  const commit = () => {
    insert.run('x'.repeat(400_000));
    thread.committed();
  };
  commit();
  const pagesOfLog = () => Number(writer.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.['log']);
  const stop = new AbortController();
  // Each begins before the other one of the two ends.
  const long = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) select count(*) from n, (select 1 from t limit 1)`;
  const reading = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) await long.execute(readers.reader(AbortSignal.timeout(30_000)));
  });
  let grown = 0;
  await vi.waitFor(
    () => {
      for (let n = 0; n < COMMITS; n++) commit();
      grown = Math.max(grown, sizeOf(`${file}-wal`));
      expect(pagesOfLog()).toBeLessThan(LONG_LOG / 2);
      expect(grown).toBeGreaterThan(LONG_LOG * 4096);
    },
    { timeout: 50_000, interval: 50 },
  );
  stop.abort();
  await Promise.all(reading);
  await Promise.all([thread.close(), readers.close()]);
}, 60_000);
