import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../db/database.ts';
import { endedSessions } from './ended-sessions.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';

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

test('an ended session stays ended until its cookie would have been over, and twice is once', async () => {
  let now = 1_000;
  const ended = endedSessions(database, () => now);
  await ended.add('a', 5_000);
  await ended.add('a', 5_000);
  expect([await ended.has('a'), await ended.has('b')]).toEqual([true, false]);
  now = 5_000;
  await ended.add('b', 9_000);
  expect(await database.db.selectFrom('ended_sessions').select('id').execute()).toEqual([{ id: 'b' }]);
});
