import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { addCounters, readCounters } from './counters.ts';
import type { Database } from './database.ts';
import { openDatabase } from './open-database.ts';
import { startCutProxy } from '../fixtures/cut-proxy.ts';
import { type Intake, intakeOn } from '../fixtures/intake-on.ts';
import { startPostgres, type PostgresServer } from '../fixtures/postgres-server.ts';
import { command, newPostgresDatabase, type TestDatabase } from '../fixtures/test-database.ts';

const PATIENCE = { timeout: 120_000, interval: 20 };
let server: PostgresServer;
let site: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await startPostgres({ durable: true });
});
afterAll(() => server.remove());
beforeEach(async () => {
  site = await newPostgresDatabase(server.url(''));
  database = await site.open({ now: Date.now });
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

const killBackends = () =>
  command(server.url(''), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test%'`);
const storedIds = async () =>
  (await database.db.selectFrom('runs').select('id').execute()).map(({ id }) => id).toSorted();
const bump = () => database.write((tx) => addCounters(tx, [{ metric: 'm', labels: [], value: 1 }]));
const sum = async () => (await readCounters(database.db))[0]?.value ?? 0;

/** Takes in new keys from 16 sides at once until told to end; refusals other than `unavailable` are its failure. */
function load(service: Intake) {
  const accepted: string[] = [];
  let refused = 0;
  const ending = new AbortController();
  let next = 0;
  const side = async () => {
    while (!ending.signal.aborted) {
      try {
        const [verdict] = await service.take(`load-${next++}`);
        if (verdict?.status === 'accepted') accepted.push(verdict.runId);
      } catch (error) {
        expect(error).toMatchObject({ type: 'unavailable' });
        refused += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  const done = Promise.all(Array.from({ length: 16 }, side));
  return {
    accepted,
    refused: () => refused,
    end: async () => {
      ending.abort();
      await done;
    },
  };
}

test.each(['fast', 'immediate'] as const)(
  'through a %s stop of the server exactly what was accepted is stored',
  async (mode) => {
    const service = intakeOn(database);
    const busy = load(service);
    await vi.waitFor(() => expect(busy.accepted.length).toBeGreaterThan(200), PATIENCE);
    await server.stop(mode);
    await vi.waitFor(() => expect(busy.refused()).toBeGreaterThan(50), PATIENCE);
    expect(database.healthy()).toBe(false);
    await server.start();
    const before = busy.accepted.length;
    await vi.waitFor(() => expect(busy.accepted.length).toBeGreaterThan(before + 200), PATIENCE);
    await busy.end();
    expect(database.healthy()).toBe(true);
    expect(busy.accepted.toSorted()).toEqual(await storedIds());
    expect(service.begun.toSorted()).toEqual(busy.accepted.toSorted());
  },
);

test('backends that are killed under load refuse nothing and double nothing', async () => {
  const service = intakeOn(database);
  const busy = load(service);
  for (let kill = 1; kill <= 8; kill += 1) {
    const before = busy.accepted.length;
    await killBackends();
    await vi.waitFor(() => expect(busy.accepted.length).toBeGreaterThan(before + 50), PATIENCE);
  }
  await busy.end();
  expect(busy.refused()).toBe(0);
  expect(busy.accepted.toSorted()).toEqual(await storedIds());
});

test('roll-ups count once through killed connections', async () => {
  const writes: Promise<void>[] = [];
  for (let round = 0; round < 10; round += 1) {
    writes.push(...Array.from({ length: 20 }, bump));
    await killBackends();
    await writes.at(-1);
  }
  await Promise.all(writes);
  expect(await sum()).toBe(200);
});

test('a read whose connection is gone is asked again', async () => {
  await bump();
  expect(await sum()).toBe(1);
  await killBackends();
  expect(await sum()).toBe(1);
});

test('without a server reads and writes say unavailable, and both come back by themselves', async () => {
  await bump();
  await server.stop('fast');
  await expect(sum()).rejects.toMatchObject({ type: 'unavailable' });
  await expect(bump()).rejects.toMatchObject({ type: 'unavailable' });
  expect(database.healthy()).toBe(false);
  await server.start();
  // Nobody writes: asking is enough.
  await vi.waitFor(() => expect(database.healthy()).toBe(true), PATIENCE);
  await bump();
  expect(await sum()).toBe(2);
});

test('a server that becomes read-only refuses writes until it is not', async () => {
  const name = new URL('url' in site.location ? site.location.url : '').pathname.slice(1);
  await command(server.url(''), `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await killBackends();
  await expect(bump()).rejects.toMatchObject({ type: 'unavailable' });
  expect(await sum()).toBe(0);
  await command(server.url(''), `ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await vi.waitFor(() => expect(database.healthy()).toBe(true), PATIENCE);
  await bump();
  expect(await sum()).toBe(1);
});

/** The same database over connections that can be cut. */
async function openBehindProxy() {
  const proxy = await startCutProxy(server.socket);
  const name = new URL('url' in site.location ? site.location.url : '').pathname.slice(1);
  const url = `postgres://signalbox@127.0.0.1:${proxy.port}/${name}`;
  return { proxy, behind: await openDatabase({ url, autoMigrate: true, now: Date.now }) };
}

test.each(['before', 'after'] as const)(
  'a network that is cut under a read, %s the server has it, does not end the process; the read is asked again',
  async (when) => {
    const { proxy, behind } = await openBehindProxy();
    const ends = vi.fn<() => void>();
    process.on('uncaughtExceptionMonitor', ends);
    try {
      proxy.cutAtStatement(1, when);
      expect(await readCounters(behind.db)).toEqual([]);
      expect(proxy.cuts()).toBe(1);
      expect(ends).not.toHaveBeenCalled();
    } finally {
      process.off('uncaughtExceptionMonitor', ends);
      await behind.close();
      await proxy.close();
    }
  },
);

test.each([
  { when: 'after' as const, becomes: 'is stored once and told so' },
  { when: 'before' as const, becomes: 'is stored once by a second try' },
])('a write whose commit is cut $when the server has it $becomes', async ({ when }) => {
  const { proxy, behind } = await openBehindProxy();
  try {
    const service = intakeOn(behind);
    await service.take('first');
    proxy.cutNextCommit(when);
    expect(await service.take('k')).toMatchObject([{ status: 'accepted' }]);
    expect(proxy.cuts()).toBe(1);
    expect(service.begun).toHaveLength(2);
    expect(service.begun.toSorted()).toEqual(await storedIds());
    expect(await service.take('k')).toMatchObject([{ status: 'deduplicated' }]);
  } finally {
    await behind.close();
    await proxy.close();
  }
});

test('a start without a server ends with one line that names it and no password', async () => {
  const url = 'postgres://someone:hunter2@127.0.0.1:1/nothing';
  const opening = openDatabase({ url, autoMigrate: true, now: Date.now });
  const error = await opening.then(
    () => new Error('it opened'),
    (reason: unknown) => reason as Error,
  );
  expect(error.message).toMatch(/^database\.url: 127\.0\.0\.1:1\/nothing cannot be used: .*ECONNREFUSED/);
  expect(error.message).not.toContain('hunter2');
});
