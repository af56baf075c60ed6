import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
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
  const [scraper, other] = [createCounterReader(() => database.db), createCounterReader(() => database.db)];
  const hashing = createCounterReader(() => database.db, { mostKnown: 0 });
  const all = [
    'cost ["team"] 0.1',
    'runs ["a","completed"] 1',
    'runs ["a","failed"] 2',
    String.raw`runs ["b, \"c\"\n","completed"] 3`,
  ];
  expect(await readBy(scraper)).toEqual(all);
  expect(await readBy(hashing)).toEqual(all);
  // A server also answers what may have changed: what was stored while other transactions were open.
  await vi.waitFor(async () => expect(await readBy(scraper)).toEqual([]));
  await vi.waitFor(async () => expect(await readBy(hashing)).toEqual([]));
  await add({ metric: 'cost', labels: ['team'], value: 0.2 }, { metric: 'runs', labels: ['a', 'failed'], value: 1 });
  const changed = ['cost ["team"] 0.30000000000000004', 'runs ["a","failed"] 3'];
  expect(await readBy(scraper)).toEqual(expect.arrayContaining(changed));
  expect(await readBy(hashing)).toEqual(expect.arrayContaining(changed));
  expect(await readBy(other)).toHaveLength(all.length);
});

test('after an hour a scrape reads all roll-ups again: the server may have changed meanwhile', async () => {
  const otherSite = await newTestDatabase();
  const other = await otherSite.open();
  try {
    await other.write((tx) => tx.run(bumpCounter, { metric: 'before', labels: '["x"]', value: 1 }));
    const site = { database, now: 0 };
    const read = createCounterReader(() => site.database.db, { now: () => site.now });
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
  const read = await readBy(createCounterReader(() => database.db, { most: 2 }));
  expect(read.filter((line) => line.startsWith('many'))).toEqual(['many ["x"] 1', 'many ["y"] 1']);
  expect(read.some((line) => line.startsWith('cost'))).toBe(true);
  expect(await countedLabels(database.db, 'many')).toEqual([['x'], ['y'], ['z']]);
});
