import { AppError } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addCounters, readCounters } from './counters.ts';
import type { Database } from './database.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';

let site: TestDatabase;
let database: Database;
const count = (metric: string, value = 1) => [{ metric, labels: ['a'], value }];

beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

const definition = (hash: string) => ({ hash, kind: 'Pipeline', name: 'p', body: '{}', stored_at: 1 });
const definitions = () => database.db.selectFrom('definitions').select('hash').orderBy('hash').execute();

test('what a job wrote is there for readers once the write resolves, and not before', async () => {
  await database.write(async ({ db }) => {
    await db.insertInto('definitions').values(definition('a')).execute();
    expect(await definitions()).toEqual([]);
  });
  expect(await definitions()).toEqual([{ hash: 'a' }]);
});

test('a reader apart sees what is stored, and gives up when it is told to', async () => {
  await database.write(({ db }) => db.insertInto('definitions').values(definition('a')).execute());
  const ask = (signal: AbortSignal) => database.reader(signal).selectFrom('definitions').select('hash').execute();
  expect(await ask(new AbortController().signal)).toEqual([{ hash: 'a' }]);
  const leaves = new AbortController();
  const asked = ask(leaves.signal);
  leaves.abort();
  await expect(asked).rejects.toMatchObject({ type: 'unavailable' });
  await expect(ask(leaves.signal)).rejects.toMatchObject({ type: 'unavailable' });
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
    database.write(async (tx) => {
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

test('what was stored is there after closing and opening again', async () => {
  await database.write((tx) => addCounters(tx, count('m')));
  await database.close();
  database = await site.open();
  expect(await readCounters(database.db)).toEqual(count('m'));
});

test('a schema that is behind is named when auto_migrate is false, and nothing is made', async () => {
  const fresh = await newTestDatabase('empty');
  try {
    await expect(fresh.open({ autoMigrate: false })).rejects.toThrow('pending: 0001-initial');
    await expect(fresh.open({ autoMigrate: false })).rejects.toThrow('pending: 0001-initial');
  } finally {
    await fresh.remove();
  }
});

test('a schema that is up to date needs no auto_migrate', async () => {
  await database.close();
  database = await site.open({ autoMigrate: false });
  expect(await readCounters(database.db)).toEqual([]);
});

test('a newer schema refuses an older program', async () => {
  const newer = await newTestDatabase();
  try {
    const later = await newer.open();
    const values = { id: '9999-later', applied_at: 1 };
    await later.write(async ({ db }) => void (await db.insertInto('schema_migrations').values(values).execute()));
    await later.close();
    await expect(newer.open()).rejects.toThrow('newer than this program (9999-later)');
  } finally {
    await newer.remove();
  }
});

test('a row that a unique index refuses is a conflict and takes nobody with it', async () => {
  const store = (hash: string) =>
    database.write(async ({ db }) => void (await db.insertInto('definitions').values(definition(hash)).execute()));
  await store('a');
  const [again, other] = await Promise.allSettled([store('a'), store('b')]);
  expect(again).toMatchObject({ status: 'rejected', reason: { type: 'conflict' } });
  expect(other.status).toBe('fulfilled');
  expect(await definitions()).toEqual([{ hash: 'a' }, { hash: 'b' }]);
});

test('a job that swallows a failed statement is told the truth about what is stored', async () => {
  const broken = database.write(async (tx) => {
    addCounters(tx, count('m'));
    await tx.db
      .deleteFrom('no_such_table' as 'runs')
      .execute()
      .catch(() => undefined);
  });
  const stored = await broken.then(
    () => true,
    () => false,
  );
  expect(await readCounters(database.db)).toEqual(stored ? count('m') : []);
  expect(stored).toBe(site.kind === 'sqlite');
});

test('text that no database can hold comes back without harm', async () => {
  const labels = ['nul \0', 'half \ud800 pair', 'é 漢 🚦'];
  await database.write((tx) => addCounters(tx, [{ metric: 'm', labels, value: 1 }]));
  const [stored] = await readCounters(database.db);
  expect(stored?.labels[2]).toBe(labels[2]);
  expect(stored?.labels).toHaveLength(3);
});
