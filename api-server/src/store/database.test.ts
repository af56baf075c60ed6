import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Database } from './database.ts';
import { addCounters, readCounters } from './counters.ts';

let folder: string;
let database: Database;
const open = () => openDatabase({ file: join(folder, 'signalbox.db'), autoMigrate: true, now: () => 1 });
const count = (metric: string, value = 1) => [{ metric, labels: ['a'], value }];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-store-'));
  database = await open();
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

test('what a job wrote is there for readers once the write resolves, and not before', async () => {
  const write = database.write((tx) => addCounters(tx, count('m')));
  expect(await readCounters(database.db)).toEqual([]);
  await write;
  expect(await readCounters(database.db)).toEqual(count('m'));
});

test('jobs of one turn share a transaction and each gets its own result', async () => {
  const results = await Promise.all([1, 2, 3].map((n) => database.write((tx) => (addCounters(tx, count('m')), n))));
  expect(results).toEqual([1, 2, 3]);
  expect(await readCounters(database.db)).toEqual(count('m', 3));
});

test('a job that throws takes none of its neighbours with it', async () => {
  const failure = new AppError('validation', 'no');
  const [first, second, third] = await Promise.allSettled([
    database.write((tx) => addCounters(tx, count('first'))),
    database.write((tx) => {
      addCounters(tx, count('second'));
      throw failure;
    }),
    database.write((tx) => addCounters(tx, count('third'))),
  ]);
  expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((second as PromiseRejectedResult).reason).toBe(failure);
  const stored = await readCounters(database.db);
  expect(stored.map(({ metric }) => metric)).toEqual(['first', 'third']);
});

test('a second process is refused while the first is there', async () => {
  await expect(open()).rejects.toThrow('is in use by another process');
});

test('what was stored is there after closing and opening again', async () => {
  await database.write((tx) => addCounters(tx, count('m')));
  await database.close();
  database = await open();
  expect(await readCounters(database.db)).toEqual(count('m'));
});

test('a schema that is behind is named when auto_migrate is false', async () => {
  const file = join(folder, 'fresh.db');
  const opening = openDatabase({ file, autoMigrate: false, now: () => 1 });
  await expect(opening).rejects.toThrow('pending: 0001-initial');
});

test('a newer schema refuses an older program', async () => {
  await database.write((tx) => tx.db.insertInto('schema_migrations').values({ id: '9999-later', applied_at: 1 }).execute());
  await database.close();
  await expect(open()).rejects.toThrow('newer than this program (9999-later)');
  database = await openDatabase({ file: join(folder, 'other.db'), autoMigrate: true, now: () => 1 });
});
