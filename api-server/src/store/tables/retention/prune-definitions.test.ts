import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { intakeDepsOn, onePipeline } from '../../fixtures/intake-on.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { intake } from '../../../triggers/intake.ts';
import { CONTEXT } from '../../../runs/fixtures/engine.ts';
import { keepDefinition } from '../run-writes.ts';
import { pruneDefinitions } from './prune-definitions.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
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

const keep = (hash: string, stored_at: number) =>
  database.write((tx) => keepDefinition(tx, { hash, kind: 'Pipeline', name: 'p', body: '{"steps":[]}', stored_at }));
const left = async () => {
  const rows = await database.db.selectFrom('definitions').select('hash').orderBy('hash').execute();
  return rows.map(({ hash }) => hash);
};

test('a definition goes when its last run is gone, and not before two days without use', async () => {
  const pipeline = onePipeline();
  await intake(intakeDepsOn(database, { now: () => 0 }), [{ pipeline, context: CONTEXT, team: null }]);
  await keep('other', 0);
  expect(await pruneDefinitions(database, DAY_MS)).toBe(0);
  expect(await pruneDefinitions(database, 3 * DAY_MS)).toBe(1);
  expect(await left()).toEqual([pipeline.hash]);
  await database.write((tx) => tx.db.deleteFrom('runs').execute());
  expect(await pruneDefinitions(database, 3 * DAY_MS)).toBe(1);
  expect(await left()).toEqual([]);
});

test('one with which a run begins again stays, once it was not touched for an hour', async () => {
  for (const hash of ['again', 'soon', 'unused']) await keep(hash, 0);
  await keep('again', DAY_MS + HOUR_MS);
  await keep('soon', HOUR_MS);
  expect(await pruneDefinitions(database, 2 * DAY_MS + HOUR_MS)).toBe(2);
  expect(await left()).toEqual(['again']);
  await keep('soon', 3 * DAY_MS);
  expect(await left()).toEqual(['again', 'soon']);
});
