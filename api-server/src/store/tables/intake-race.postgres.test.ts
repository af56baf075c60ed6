import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../db/database.ts';
import { type Intake, intakeOn } from '../fixtures/intake-on.ts';
import type { IntakeReport } from '../fixtures/intake-process.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';

let site: TestDatabase;
let replicas: Database[];

beforeEach(async () => {
  site = await newTestDatabase();
  replicas = await Promise.all([site.open(), site.open()]);
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await site.remove();
});

const stored = () => (replicas[0] as Database).db.selectFrom('runs').select('id').execute();
const keysFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => `key-${first + index}`);

test('of two replicas that take in the same keys at once, each key is accepted by exactly one', async () => {
  const services = replicas.map((replica) => intakeOn(replica));
  const keys = keysFrom(0, 100);
  const deliveries = services.flatMap((service, index) => {
    const order = index === 0 ? keys : keys.toReversed();
    return [...order, ...order].map((key) => service.take(key));
  });
  const verdicts = (await Promise.all(deliveries)).flat();
  expect(verdicts.filter(({ status }) => status === 'accepted')).toHaveLength(keys.length);
  expect(verdicts.filter(({ status }) => status === 'deduplicated')).toHaveLength(3 * keys.length);
  expect(services.flatMap(({ begun }) => begun)).toHaveLength(keys.length);
  expect(await stored()).toHaveLength(keys.length);
});

test('deliveries of many keys in opposite orders do not stop each other', async () => {
  const services = replicas.map((replica) => intakeOn(replica));
  const keys = keysFrom(0, 20);
  const deliveries = Array.from({ length: 20 }, (_, round) => {
    const order = round % 2 === 0 ? keys : keys.toReversed();
    return (services[round % 2] as Intake).take(...order);
  });
  const verdicts = (await Promise.all(deliveries)).flat();
  expect(verdicts.filter(({ status }) => status === 'accepted')).toHaveLength(keys.length);
  expect(await stored()).toHaveLength(keys.length);
});

test('two processes that take in the same keys accept each exactly once', async () => {
  const processes = [1, 2].map(() => fork(join(import.meta.dirname, '../fixtures/intake-process.ts')));
  try {
    await Promise.all(processes.map((child) => once(child, 'message')));
    const reports = processes.map(async (child) => (await once(child, 'message'))[0] as IntakeReport);
    for (const child of processes) child.send({ location: site.location, keys: keysFrom(0, 200), times: 3 });
    const told = await Promise.all(reports);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    expect(sum(told.map(({ accepted }) => accepted))).toBe(200);
    expect(sum(told.map(({ deduplicated }) => deduplicated))).toBe(1000);
    expect(await stored()).toHaveLength(200);
  } finally {
    for (const child of processes) child.kill();
  }
});

test('replicas that start together on an empty database migrate it once', async () => {
  const fresh = await newTestDatabase();
  try {
    const opened = await Promise.all([1, 2, 3, 4].map(() => fresh.open()));
    const [first] = opened;
    const ledger = await first?.db.selectFrom('schema_migrations').select('id').orderBy('id').execute();
    expect(ledger?.map(({ id }) => id)).toContain('0001-initial');
    expect(new Set(ledger?.map(({ id }) => id)).size).toBe(ledger?.length);
    await Promise.all(opened.map((database) => database.close()));
  } finally {
    await fresh.remove();
  }
});
