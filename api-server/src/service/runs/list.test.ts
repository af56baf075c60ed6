import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { createRuns, type RunsDeps } from './runs.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const PAGE = { limit: 10, offset: 0 };

const listsReadBeside = async (query: object): Promise<boolean> => {
  const { database } = store;
  const reader = vi.fn<typeof database.reader>(database.reader);
  const runs = createRuns({ database: { db: database.db, reader } } as unknown as RunsDeps);
  await runs.list({ ...PAGE, ...query });
  return reader.mock.calls.length > 0;
};

test.each([
  {},
  { status: ['completed', 'failed'] },
  { pipeline: 'p' },
  { parent: 'r' },
  { cursor: 7, status: ['running'] },
  { offset: 1_000 },
])('a list that an index answers is read in place: %j', async (query) => {
  expect(await listsReadBeside(query)).toBe(false);
});

test.each([
  { q: 'slow' },
  { label: [{ key: 'service', value: 'shop' }] },
  { severity: 'critical' },
  { source: 'generic' },
  { agent: 'a' },
  { model: 'm' },
  { team: 't' },
  { stage: 'testing' },
  { fingerprint: 'f' },
  { since: 1 },
  { until: 1 },
  { warnings: true },
  { status: ['completed'], pipeline: 'p' },
  { offset: 1_001 },
])('a list that looks through many runs is read beside the event loop: %j', async (query) => {
  expect(await listsReadBeside(query)).toBe(true);
});

test('runs are found by the beginning of their id, the newest first, by nothing shorter than four characters', async () => {
  const ids = [
    '01a2aaaa-0000-7000-8000-000000000001',
    '01a2aaaa-0000-7000-8000-000000000002',
    '01a2bbbb-0000-7000-8000-000000000003',
  ];
  for (const [n, id] of ids.entries()) await store.addRun(n, { id });
  const runs = createRuns({ database: store.database } as unknown as RunsDeps);
  const found = async (prefix: string) => (await runs.byPrefix(prefix, 5)).map(({ id }) => ids.indexOf(id));
  expect(await found('01a2aaaa')).toEqual([1, 0]);
  expect(await found('01a2')).toEqual([2, 1, 0]);
  expect(await found(ids[2]!)).toEqual([2]);
  for (const none of ['', '01a', '01a3', "01a2'", '%%%%', '01A2AAAA']) expect(await found(none)).toEqual([]);
});
