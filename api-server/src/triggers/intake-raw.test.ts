import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TriggerContext } from '../runs/state/model.ts';
import type { Database } from '../store/db/database.ts';
import { newTestDatabase, type TestDatabase } from '../store/fixtures/test-database.ts';
import { intakeDepsOn, onePipeline } from '../store/fixtures/intake-on.ts';
import { pruneRaw } from '../store/tables/raw-bodies.ts';
import { runDetail } from '../store/tables/run-detail.ts';
import { intake } from './intake.ts';

const DAY_MS = 86_400_000;
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

const deliver = async (raw: unknown, alerts: number) => {
  const deps = intakeDepsOn(database, { now: () => 0 });
  const pipeline = onePipeline();
  const context = (index: number): TriggerContext => ({
    source: 'alert_router',
    pipeline: null,
    severity: null,
    labels: {},
    annotations: {},
    summary: null,
    fingerprint: `alert-${index}`,
    metadata: {},
    raw,
    receivedAt: 0,
  });
  const requests = Array.from({ length: alerts }, (_, index) => ({ pipeline, context: context(index), team: null }));
  const verdicts = await intake(deps, requests);
  return verdicts.map((verdict) => ('runId' in verdict ? verdict.runId : ''));
};
const rawOf = async (id = '') => (await runDetail(database.db, id, { raw: true }))?.raw;
const bodies = () => database.db.selectFrom('raw_bodies').select(['hash', 'body']).execute();

test('a large delivery is stored once and compressed for all its runs, each of which shows it whole', async () => {
  const raw = { alerts: Array.from({ length: 300 }, (_, index) => ({ index, text: 'disk is full '.repeat(200) })) };
  const ids = await deliver(raw, 300);
  expect(new Set(ids).size).toBe(300);
  expect(await rawOf(ids[0])).toEqual(raw);
  expect(await rawOf(ids[299])).toEqual(raw);
  const kept = await bodies();
  expect(kept).toHaveLength(1);
  expect(kept[0]?.body.length).toBeLessThan(JSON.stringify(raw).length / 20);
  const rows = await database.db.selectFrom('runs').select('raw').where('raw', 'is not', null).execute();
  expect(rows).toEqual([]);
});

test('a small delivery stays with its run', async () => {
  const [id] = await deliver({ some: 'payload' }, 1);
  expect(await rawOf(id)).toEqual({ some: 'payload' });
  expect(await bodies()).toEqual([]);
});

test('a delivery goes when its last run is gone, and not on the day it came', async () => {
  const [first, second] = await deliver({ text: 'x'.repeat(5000) }, 2);
  const remove = (id = '') => database.write((tx) => tx.db.deleteFrom('runs').where('id', '=', id).execute());
  await remove(first);
  expect(await pruneRaw(database, 3 * DAY_MS)).toBe(0);
  await remove(second);
  expect(await pruneRaw(database, DAY_MS)).toBe(0);
  expect(await pruneRaw(database, 3 * DAY_MS)).toBe(1);
  expect(await bodies()).toEqual([]);
});
