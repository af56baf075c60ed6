import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import type { Database } from './database.ts';
import { addCounters, type Counter, countedLabels, createCounterReader } from './counters.ts';

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

test('a scrape reads all roll-ups as they are stored, and a later one those beside which something changed', async () => {
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
  expect(await readBy(scraper)).toEqual([]);
  expect(await readBy(hashing)).toEqual(all);
  expect(await readBy(hashing)).toEqual([]);
  await add({ metric: 'cost', labels: ['team'], value: 0.2 }, { metric: 'runs', labels: ['a', 'failed'], value: 1 });
  const changed = ['cost ["team"] 0.30000000000000004', 'runs ["a","completed"] 1', 'runs ["a","failed"] 3'];
  expect(await readBy(scraper)).toEqual(changed);
  expect(await readBy(hashing)).toEqual(changed);
  expect(await readBy(other)).toHaveLength(all.length);
});

test('of a metric with more rows than a scrape reads, the first ones are read, and all of the others', async () => {
  await add(...['x', 'y', 'z'].map((label) => ({ metric: 'many', labels: [label], value: 1 })));
  const read = await readBy(createCounterReader(() => database.db, { most: 2 }));
  expect(read.filter((line) => line.startsWith('many'))).toEqual(['many ["x"] 1', 'many ["y"] 1']);
  expect(read.some((line) => line.startsWith('cost'))).toBe(true);
  expect(await countedLabels(database.db, 'many')).toEqual([['x'], ['y'], ['z']]);
});
