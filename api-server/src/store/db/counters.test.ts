import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { collectChanged } from './changed-counters.ts';
import type { Database } from './database.ts';
import { addCounters, bumpCounter, type Counter, countedLabels, createCounterReader } from './counters.ts';

let site: TestDatabase;
let database: Database;
beforeAll(async () => {
  site = await newTestDatabase();
  database = await site.open();
});
afterAll(async () => {
  await database.close();
  await site.remove();
});

const add = (...counters: Counter[]) =>
  database.write(async (tx) => {
    await Promise.resolve();
    addCounters(tx, counters);
  });

const scraper = (options?: { most: number }) =>
  createCounterReader({ reader: () => database.db, changed: database.changedCounters }, options);

async function readBy(read: ReturnType<typeof createCounterReader>): Promise<string[]> {
  const lines: string[] = [];
  for await (const rows of read())
    lines.push(...rows.map(({ metric, labels, value }) => `${metric} ${labels} ${value}`));
  return lines.toSorted();
}

test('a scrape reads all roll-ups as they are stored, and a later one those that changed', async () => {
  await add(
    { metric: 'runs', labels: ['a', 'completed'], value: 1 },
    { metric: 'runs', labels: ['a', 'failed'], value: 2 },
    { metric: 'runs', labels: ['b, "c"\n', 'completed'], value: 3 },
    { metric: 'cost', labels: ['team'], value: 0.1 },
  );
  const read = scraper();
  const all = [
    'cost ["team"] 0.1',
    'runs ["a","completed"] 1',
    'runs ["a","failed"] 2',
    String.raw`runs ["b, \"c\"\n","completed"] 3`,
  ];
  expect(await readBy(read)).toEqual(all);
  // A server also answers what may have changed: what was stored while other transactions were open.
  await vi.waitFor(async () => expect(await readBy(read)).toEqual([]));
  await add({ metric: 'cost', labels: ['team'], value: 0.2 }, { metric: 'runs', labels: ['a', 'failed'], value: 1 });
  const changed = ['cost ["team"] 0.30000000000000004', 'runs ["a","failed"] 3'];
  expect(await readBy(read)).toEqual(expect.arrayContaining(changed));
  await vi.waitFor(async () => expect(await readBy(read)).toEqual([]));
  expect(await readBy(scraper())).toHaveLength(all.length);
});

test('after a scrape that failed the next one reads all roll-ups', async () => {
  const site = { reader: () => database.db, changed: database.changedCounters };
  const read = createCounterReader({ reader: () => site.reader(), changed: () => site.changed?.() ?? null });
  const all = await readBy(read);
  Object.assign(site, {
    reader: () => {
      throw new Error('the database cannot be reached');
    },
  });
  await expect(readBy(read)).rejects.toThrow('cannot be reached');
  Object.assign(site, { reader: () => database.db });
  expect(await readBy(read)).toEqual(all);
});

test('where more roll-ups changed than names are kept, all may have changed', () => {
  const changed = collectChanged(2);
  for (const labels of ['["a"]', '["b"]', '["a"]']) changed.add({ metric: 'm', labels });
  expect(changed.take()).toEqual([
    ['m', '["a"]'],
    ['m', '["b"]'],
  ]);
  for (const labels of ['["a"]', '["b"]', '["c"]', '["d"]']) changed.add({ metric: 'm', labels });
  expect(changed.take()).toBeNull();
  expect(changed.take()).toEqual([]);
});

test('after an hour a scrape reads all roll-ups again: the server may have changed meanwhile', async () => {
  const otherSite = await newTestDatabase();
  const other = await otherSite.open();
  try {
    await other.write((tx) => tx.run(bumpCounter, { metric: 'before', labels: '["x"]', value: 1 }));
    const site = { database, now: 0 };
    const read = createCounterReader({ reader: () => site.database.db, changed: () => [] }, { now: () => site.now });
    await readBy(read);
    Object.assign(site, { database: other, now: 3_599_999 });
    const early = await readBy(read);
    Object.assign(site, { now: 3_600_000 });
    const late = await readBy(read);
    expect([...early, ...late]).toContain('before ["x"] 1');
  } finally {
    await other.close();
    await otherSite.remove();
  }
});

test('of a metric with more rows than a scrape reads, the first ones are read, and all of the others', async () => {
  await add(...['x', 'y', 'z'].map((label) => ({ metric: 'many', labels: [label], value: 1 })));
  const read = await readBy(scraper({ most: 2 }));
  expect(read.filter((line) => line.startsWith('many'))).toEqual(['many ["x"] 1', 'many ["y"] 1']);
  expect(read.some((line) => line.startsWith('cost'))).toBe(true);
  expect(await countedLabels(database.db, 'many')).toEqual([['x'], ['y'], ['z']]);
});
