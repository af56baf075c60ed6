import { afterEach, beforeEach, expect, test } from 'vitest';
import { databaseArtifacts, pruneArtifacts } from './artifacts.ts';
import type { Database } from '../db/database.ts';
import { intakeOn } from '../fixtures/intake-on.ts';
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

test('artifacts of a step are kept beside its run, a repeated step replaces them, and they go with their time', async () => {
  const service = intakeOn(database);
  await service.take('k');
  const [run = ''] = service.begun;
  const artifacts = databaseArtifacts(database, () => 1_000);
  const kept = await artifacts.keep(run, 's', { 'a.md': 'first', big: 'x'.repeat(6 * 1024 * 1024) });
  expect(kept).toEqual({ leftOut: ['big'] });
  await artifacts.keep(run, 's', { 'a.md': 'second' });
  expect(String(await artifacts.read(run, 's', 'a.md'))).toBe('second');
  expect(await artifacts.read(run, 's', 'big')).toBeNull();
  expect(await artifacts.read(run, 'other', 'a.md')).toBeNull();
  expect(await pruneArtifacts(database, 1_000)).toBe(0);
  expect(await pruneArtifacts(database, 1_001)).toBe(1);
  expect(await artifacts.read(run, 's', 'a.md')).toBeNull();
});
