import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { createRuns, type RunsDeps } from './runs.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const PAGE = { limit: 10, offset: 0 };

test('a list that looks through many runs is read beside the event loop, one that an index answers is not', async () => {
  const { database } = store;
  const reader = vi.fn<typeof database.reader>(database.reader);
  const runs = createRuns({ database: { db: database.db, reader } } as unknown as RunsDeps);
  await runs.list(PAGE);
  await runs.list({ ...PAGE, status: ['completed'], pipeline: 'p' });
  expect(reader).not.toHaveBeenCalled();
  await runs.list({ ...PAGE, q: 'slow' });
  await runs.list({ ...PAGE, label: [{ key: 'service', value: 'shop' }] });
  expect(reader).toHaveBeenCalledTimes(2);
});
