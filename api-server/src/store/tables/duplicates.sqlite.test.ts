import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { compile, type Statement } from '../db/statement.ts';
import { findCoveringRow, findDuplicateRow, removeCoverage } from './duplicates.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

async function planOf(asked: Statement<never, unknown>): Promise<string[]> {
  const { db } = store.database;
  const { sql, bind } = compile(db, asked);
  const values = bind({ pipeline: 'p', key: 'k', keys: '["k"]', since: 1 } as never);
  const { rows } = await db.executeQuery<{ detail: string }>(CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, values));
  return rows.map(({ detail }) => detail);
}

test.each<[string, Statement<never, unknown>]>([
  ['one key', findDuplicateRow],
  ['one alert', findCoveringRow],
])(
  'the look-up of %s reads its active run and those of its window, not all that are stored of it',
  async (_, asked) => {
    expect(await planOf(asked)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/runs_one_live \(pipeline_name=\? AND dedup_key=\?\)/),
        expect.stringMatching(/runs_dedup \(dedup_key=\? AND pipeline_name=\? AND triggered_at>\?\)/),
      ]),
    );
  },
);

test('runs that cover an alert are found by its key, those that no longer do by key and run', async () => {
  const ofKey = /run_alerts USING PRIMARY KEY \(pipeline_name=\? AND alert_key=\?\)/;
  expect(await planOf(findCoveringRow)).toContainEqual(expect.stringMatching(ofKey));
  const ofRun = /USING COVERING INDEX run_alerts_by_run \(run_id=\? AND pipeline_name=\? AND alert_key=\?\)/;
  const removing = await planOf(removeCoverage);
  expect(removing).toEqual(expect.arrayContaining([expect.stringMatching(ofRun), expect.stringMatching(ofKey)]));
});
