import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../db/database.ts';
import { intakeOn } from '../fixtures/intake-on.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { findDuplicate } from './duplicates.ts';

let site: TestDatabase;
let database: Database;

beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

const stored = () => database.db.selectFrom('runs').select(['id', 'dedup_key']).execute();
const statuses = (verdicts: { status: string }[]) => verdicts.map(({ status }) => status).toSorted();

test('the index catches what the check did not see, and the answer is still deduplicated', async () => {
  const first = await intakeOn(database).take('k');
  let blind = true;
  const careless = intakeOn(database, {
    findDuplicate: (tx, key) => {
      if (!blind) return findDuplicate(tx, key);
      blind = false;
      return Promise.resolve(null);
    },
  });
  const [verdict] = await careless.take('k');
  expect(verdict).toMatchObject({ status: 'deduplicated', runId: 'runId' in first[0]! ? first[0].runId : '' });
  expect(careless.begun).toEqual([]);
  expect(await stored()).toHaveLength(1);
});

test('keys of any length and content are told apart', async () => {
  const long = 'x'.repeat(9_000);
  const keys = [long, `${long}y`, '漢'.repeat(1_000), 'with \0 nul', "'; drop table runs; --"];
  const service = intakeOn(database);
  expect(statuses((await Promise.all(keys.map((key) => service.take(key)))).flat())).toEqual(
    keys.map(() => 'accepted'),
  );
  expect(statuses((await Promise.all(keys.map((key) => service.take(key)))).flat())).toEqual(
    keys.map(() => 'deduplicated'),
  );
  expect(await stored()).toHaveLength(keys.length);
});
