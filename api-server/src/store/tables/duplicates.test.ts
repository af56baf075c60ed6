import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { compile, type Statement } from '../db/statement.ts';
import { findCoveringRow, findDuplicate, findDuplicateRow } from './duplicates.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const find = (pipelineName: string, dedupKey = 'k', since = NOW) =>
  store.database.write((tx) => findDuplicate(tx, { pipelineName, dedupKey, since, until: NOW + 10 }));

test('a run of the same pipeline and key suppresses, one of another pipeline or key does not', async () => {
  const id = await store.addRun(1, { pipeline_name: 'p', status: 'running', dedup_key: 'k' });
  expect(await find('p')).toMatchObject({ id });
  expect(await find('q')).toBeNull();
  expect(await find('p', 'other')).toBeNull();
});

test('an ended run suppresses within the window only', async () => {
  const id = await store.addRun(1, { pipeline_name: 'p', status: 'completed', dedup_key: 'k', triggered_at: NOW - 10 });
  expect(await find('p', 'k', NOW - 10)).toMatchObject({ id });
  expect(await find('p', 'k', NOW - 9)).toBeNull();
});

test('an ended run of a time that is still to come suppresses no longer than its window: the clock was set back', async () => {
  const id = await store.addRun(1, { pipeline_name: 'p', status: 'completed', dedup_key: 'k', triggered_at: NOW + 10 });
  expect(await find('p')).toMatchObject({ id });
  await store.addRun(2, { pipeline_name: 'p', status: 'completed', dedup_key: 'late', triggered_at: NOW + 11 });
  expect(await find('p', 'late')).toBeNull();
});

test.each<[string, Statement<never, unknown>]>([
  ['one key', findDuplicateRow],
  ['one alert', findCoveringRow],
])(
  'the look-up of %s reads its active run and those of its window, not all that are stored of it',
  async (_, asked) => {
    const { db } = store.database;
    const { sql, bind } = compile(db, asked);
    const plan = CompiledQuery.raw(
      `EXPLAIN QUERY PLAN ${sql}`,
      bind({ pipeline: 'p', key: 'k', keys: 'k', since: 1 } as never),
    );
    const { rows } = await db.executeQuery<{ detail: string }>(plan);
    expect(rows.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/runs_one_live \(pipeline_name=\? AND dedup_key=\?\)/),
        expect.stringMatching(/runs_dedup \(dedup_key=\? AND pipeline_name=\? AND triggered_at>\?\)/),
      ]),
    );
  },
);
