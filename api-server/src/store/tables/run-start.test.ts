import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../web/fixtures/store.ts';
import { readRecorded } from './replay/recorded-runs.ts';
import { runDetail } from './run-detail.ts';

const RUN = runIdOf(1);
const LONG = JSON.stringify({ items: [Array.from({ length: 30_000 }, () => ({}))] });

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  await store.addRun(1);
  await store.addStep(RUN, 'long', { kind: 'fan_out', step_index: 0, raw_response: LONG });
  await store.addStep(RUN, 'short', { kind: 'fan_out', step_index: 1, raw_response: '{"items":["a","b"]}' });
  await store.database.write(({ db }) =>
    db
      .insertInto('definitions')
      .values({ hash: 'abc', kind: 'Pipeline', name: 'p', body: '{"name":"p","steps":[]}', stored_at: 1 })
      .execute(),
  );
});
afterAll(() => store.close());

test('who reads a run parses no list of a fan-out that is too large, but who replays a branch of it', async () => {
  const { db } = store.database;
  const parse = vi.spyOn(JSON, 'parse');
  const detail = await runDetail(db, RUN, { raw: false });
  expect(detail?.steps.map(({ rawResponse }) => rawResponse)).toEqual([{}, { items: ['a', 'b'] }]);
  await readRecorded(db, { runId: RUN, fanOut: null });
  expect(parse).not.toHaveBeenCalledWith(LONG);
  parse.mockRestore();
  expect(await readRecorded(db, { runId: RUN, fanOut: 'long' })).toMatchObject(JSON.parse(LONG) as object);
});
