import { afterEach, beforeEach, expect, test } from 'vitest';
import { alert, groupOf, receivingOn } from '../service/deliveries/fixtures/receiving.ts';
import { receive, type ReceiveDeps } from '../service/deliveries/receive.ts';
import type { Database } from '../store/db/database.ts';
import { newTestDatabase, type TestDatabase } from '../store/fixtures/test-database.ts';
import { endRun } from '../store/tables/run-writes.ts';
import type { Delivery, Receipt } from './model.ts';

const PIPELINES = {
  'a-billing': 'trigger: {match: {service: billing}, dedup: {enabled: true, window_seconds: 60}}',
  'b-paused': 'suspend: true\ntrigger: {match: {service: paused}}',
  'c-shop': 'trigger: {match: {namespace: shop}, dedup: {enabled: true, window_seconds: 60}}',
};
const MINUTE = 60_000;

let site: TestDatabase;
let database: Database;
let clock: number;
let deps: ReceiveDeps;

beforeEach(async () => {
  site = await newTestDatabase();
  clock = 1_000_000;
  database = await site.open({ now: () => clock });
  deps = serviceOn(database);
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

function serviceOn(on: Database, enabled = true): ReceiveDeps {
  const pipelines = Object.entries(PIPELINES).map(([name, more]) => [
    name,
    `stage: production\n${enabled ? more : more.replace('enabled: true', 'enabled: false')}`,
  ]);
  return receivingOn({ database: on, pipelines: Object.fromEntries(pipelines), now: () => clock });
}

const delivery = (alerts: readonly object[], over: Partial<Delivery> = {}): Delivery => ({
  source: 'alert_router',
  body: groupOf(...alerts),
  strategy: null,
  allowTesting: false,
  dryRun: false,
  team: null,
  ...over,
});
const send = (...alerts: object[]): Promise<Receipt> => receive(deps, delivery(alerts));

/** Pipeline and alert of every run, in their order. */
async function looked(): Promise<string[]> {
  const runs = await database.db.selectFrom('runs').select(['pipeline_name', 'summary']).orderBy('seq').execute();
  return runs.map(({ pipeline_name: pipeline, summary }) => `${pipeline}: ${summary}`);
}
const statusOf = (receipt: Receipt) => (receipt.kind === 'verdict' ? receipt.verdict.status : receipt.kind);
const runOf = (receipt: Receipt) =>
  receipt.kind === 'verdict' && 'runId' in receipt.verdict ? receipt.verdict.runId : '';

async function endAll(): Promise<void> {
  const runs = await database.db.selectFrom('runs').select('id').where('status', '=', 'running').execute();
  for (const { id } of runs) {
    const spent = {
      trust: null,
      threshold: null,
      input_tokens: 0,
      output_tokens: 0,
      cost: null,
      unpriced_steps: 0,
      warning_count: 0,
    };
    const end = { id, status: 'completed' as const, completed_at: clock, error_step: null, error_message: null };
    await database.write((tx) => endRun(tx, { ...end, ...spent }));
  }
}

test('an alert that joins a group with a running run gets a run of its own', async () => {
  expect(statusOf(await send(alert('checkout')))).toBe('accepted');
  expect(statusOf(await send(alert('checkout'), alert('payments')))).toBe('accepted');
  expect(await looked()).toEqual(['c-shop: checkout is down', 'c-shop: payments is down']);
  expect(statusOf(await send(alert('checkout'), alert('payments')))).toBe('deduplicated');
  expect(statusOf(await send(alert('payments'), alert('checkout')))).toBe('deduplicated');
});

test('a run covers all alerts of its delivery, also when they come alone', async () => {
  const first = await send(alert('checkout'), alert('payments'), alert('search'));
  const repeats = [await send(alert('payments')), await send(alert('search'), alert('payments'))];
  expect(repeats.map(statusOf)).toEqual(['deduplicated', 'deduplicated']);
  expect(repeats.map(runOf)).toEqual([runOf(first), runOf(first)]);
  expect(await looked()).toEqual(['c-shop: checkout is down']);
});

test('of several alerts without a run the most severe one gets it, and it covers the others', async () => {
  await send(alert('checkout'));
  const low = alert('search', { labels: { ...alert('search').labels, severity: 'info' } });
  await send(alert('checkout'), low, alert('payments'));
  expect(await looked()).toEqual(['c-shop: checkout is down', 'c-shop: payments is down']);
  expect(statusOf(await send(low))).toBe('deduplicated');
});

test('a running run covers for as long as it runs, an ended one for its window', async () => {
  await send(alert('checkout'), alert('payments'));
  clock += 10 * MINUTE;
  expect(statusOf(await send(alert('payments')))).toBe('deduplicated');
  await endAll();
  expect(statusOf(await send(alert('payments')))).toBe('accepted');
});

test('an alert that an earlier run covers stays with that run and its window', async () => {
  await send(alert('checkout'));
  await endAll();
  clock += MINUTE / 2;
  await send(alert('checkout'), alert('payments'));
  clock += MINUTE / 2 + 1;
  expect(statusOf(await send(alert('checkout'), alert('payments')))).toBe('accepted');
  expect(await looked()).toEqual(['c-shop: checkout is down', 'c-shop: payments is down', 'c-shop: checkout is down']);
});

test('the end of an alert that joins a group is looked at too', async () => {
  await send(alert('checkout'), alert('payments'));
  expect(statusOf(await send(alert('checkout'), alert('payments', { status: 'resolved' })))).toBe('accepted');
});

test('an alert that joins a group runs the pipeline that it matches, once', async () => {
  await send(alert('checkout'));
  await send(alert('checkout'), alert('billing'), alert('search'));
  expect(await looked()).toEqual(['c-shop: checkout is down', 'a-billing: billing is down']);
  expect(statusOf(await send(alert('checkout'), alert('billing'), alert('search')))).toBe('deduplicated');
  expect(statusOf(await send(alert('billing')))).toBe('deduplicated');
});

test('an alert whose own pipeline takes nothing is looked at by the pipeline of its group', async () => {
  await send(alert('checkout'));
  await send(alert('checkout'), alert('paused'));
  expect(await looked()).toEqual(['c-shop: checkout is down', 'c-shop: paused is down']);
});

test('an alert that is known to its own pipeline is not looked at again for its group', async () => {
  await send(alert('billing'));
  await send(alert('checkout'));
  expect(statusOf(await send(alert('checkout'), alert('billing')))).toBe('deduplicated');
});

test('strategies without a choice, and pipelines without deduplication, are as before', async () => {
  await send(alert('checkout'), alert('payments'));
  const each = await receive(deps, delivery([alert('payments')], { strategy: 'per_alert' }));
  expect(each).toMatchObject({ kind: 'verdicts', verdicts: [{ status: 'accepted' }] });
  deps = serviceOn(database, false);
  expect(statusOf(await send(alert('checkout')))).toBe('accepted');
  expect(statusOf(await send(alert('checkout')))).toBe('accepted');
});

test('a dry run names the alert that the run would be for', async () => {
  await send(alert('checkout'));
  const receipt = await receive(deps, delivery([alert('checkout'), alert('payments')], { dryRun: true }));
  expect(receipt).toMatchObject({
    kind: 'previews',
    previews: [{ would: 'accepted', fingerprint: 'f-payments:firing', context: { summary: 'payments is down' } }],
  });
});

test('a group of 500 alerts that is repeated is told apart from one with one more', async () => {
  const many = Array.from({ length: 499 }, (_, index) => alert(`s${index}`));
  expect(statusOf(await send(...many))).toBe('accepted');
  expect(statusOf(await send(...many.toReversed()))).toBe('deduplicated');
  expect(statusOf(await send(...many, alert('payments')))).toBe('accepted');
  expect(await looked()).toEqual(['c-shop: s0 is down', 'c-shop: payments is down']);
});

test('fingerprints of any length and content are told apart', async () => {
  const keys = [
    'x'.repeat(1_000),
    `${'x'.repeat(1_000)}y`,
    'with \0 nul',
    '\ud800',
    '漢'.repeat(300),
    "'; drop table runs; --",
  ];
  const alerts = keys.map((fingerprint, index) => alert(`s${index}`, { fingerprint }));
  await send(...alerts);
  for (const one of alerts) expect(statusOf(await send(one))).toBe('deduplicated');
  await send(...alerts, alert('payments'));
  expect(await looked()).toHaveLength(2);
});

test('of many deliveries of overlapping groups at once, each alert is looked at once', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
  const groups = names.map((_, start) => [...names.slice(start), ...names.slice(0, start)].slice(0, 5));
  const deliveries = groups.flatMap((group) => [group, group.toReversed()]);
  await Promise.all(deliveries.map((group) => send(...group.map((name) => alert(name)))));
  const again = await Promise.all(names.map((name) => send(alert(name))));
  expect(new Set(again.map(statusOf))).toEqual(new Set(['deduplicated']));
  const seen = await looked();
  expect(new Set(seen).size).toBe(seen.length);
});
