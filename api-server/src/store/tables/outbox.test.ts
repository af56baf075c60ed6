import { afterEach, beforeEach, expect, test } from 'vitest';
import { AT, notificationOf } from '../../notify/fixtures/run.ts';
import type { Notification } from '../../notify/message.ts';
import type { PruneBefore } from '../../notify/pruning.ts';
import type { Outbox } from '../../notify/sender.ts';
import { type Settlement } from '../../notify/settle.ts';
import { readCounters } from '../db/counters.ts';
import type { Database } from '../db/database.ts';
import { readEvents } from './bodies/run-bodies.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { createOutbox, insertNotifications } from './outbox.ts';
import { endRun, insertRun, keepDefinition } from './run-writes.ts';

let site: TestDatabase;
let database: Database;
let outbox: Outbox;
beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
  outbox = createOutbox(database);
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

const one = (id: string, more: Partial<Notification> = {}) => notificationOf({ id, runId: null, ...more });
const store = (...notifications: Notification[]) => database.write((tx) => insertNotifications(tx, notifications));
const claim = (now: number, limit = 10) => outbox.claim({ now, until: now + 15_000, limit });
const prune = (before: PruneBefore) => outbox.prune(before, new AbortController().signal);
const ids = (claimed: { id: string }[]) => claimed.map(({ id }) => id);
const rows = () => database.db.selectFrom('notifications').selectAll().orderBy('id').execute();

const settlement = (change: Partial<Settlement> = {}): Settlement => ({
  id: 'a',
  runId: null,
  status: 'sent',
  attempts: 1,
  tries: [],
  at: AT + 5,
  nextAt: null,
  error: null,
  receipt: { ts: '1' },
  forward: null,
  next: null,
  counters: [{ metric: 'notifications_total', labels: ['slack', 'sent'], value: 1 }],
  event: { ts: new Date(AT).toISOString(), level: 'info', event: 'notification_sent', msg: 'sent' },
  ...change,
});

async function endedRun(id: string, end = true): Promise<void> {
  const context = { source: 'generic', labels: {}, annotations: {}, metadata: {}, received_at: AT };
  await database.write(async (tx) => {
    await keepDefinition(tx, {
      hash: 'h',
      kind: 'Pipeline',
      name: 'checkout',
      body: '{"name":"checkout"}',
      stored_at: AT,
    });
    await insertRun(tx, {
      id,
      pipeline_name: 'checkout',
      definition_hash: 'h',
      source: 'generic',
      status: 'running',
      team: null,
      stage: 'production',
      severity: null,
      summary: null,
      triggered_at: AT,
      fingerprint: null,
      dedup_key: null,
      started_by: null,
      namespace: null,
      parent_run_id: null,
      rerun_of: null,
      context: JSON.stringify(context),
      raw: null,
    });
    await tx.db
      .insertInto('run_events')
      .values({ run_id: id, first_seq: 1, events: JSON.stringify([{ seq: 1 }, { seq: 2 }]) })
      .execute();
    if (end) {
      await endRun(tx, {
        id,
        status: 'failed',
        completed_at: AT,
        error_step: null,
        error_message: null,
        trust: null,
        threshold: null,
        input_tokens: 0,
        output_tokens: 0,
        cost: null,
        unpriced_steps: 0,
        warning_count: 0,
      });
    }
  });
}

test('what was stored comes back as it was, once', async () => {
  const notification = one('a', { channel: 'slack', source: { from: 'definition', step: 'look', index: 1 } });
  await store(notification);
  await store(notification, one('a', { channel: 'email' }));
  expect(await claim(AT)).toEqual([{ ...notification, attempts: 0, tries: [], triedFrom: AT }]);
});

test('a transaction that fails leaves nothing to tell', async () => {
  const failing = database.write(async (tx) => {
    await insertNotifications(tx, [one('a')]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await rows()).toEqual([]);
});

test('a row that is taken is nobody else’s until its time is over', async () => {
  await store(one('a'), one('b', { createdAt: AT + 1 }), one('later', { createdAt: AT + 99_999 }));
  expect(ids(await claim(AT + 1))).toEqual(['a', 'b']);
  expect(ids(await claim(AT + 15_000))).toEqual([]);
  expect(ids(await claim(AT + 15_001))).toEqual(['a', 'b']);
});

test('takers at the same moment share the rows', async () => {
  await store(...Array.from({ length: 20 }, (_, index) => one(`n${index}`)));
  const taken = await Promise.all([claim(AT, 8), claim(AT, 8), claim(AT, 8)]);
  expect(taken.map(({ length }) => length).toSorted()).toEqual([4, 8, 8]);
  expect(new Set(taken.flatMap(ids)).size).toBe(20);
});

test('a sent one counts once and is never taken again', async () => {
  await store(one('a'));
  await outbox.settle(settlement());
  await outbox.settle(settlement());
  expect(await claim(AT + 99_999)).toEqual([]);
  expect(await readCounters(database.db)).toEqual([
    { metric: 'notifications_total', labels: ['slack', 'sent'], value: 1 },
  ]);
  expect(await rows()).toMatchObject([
    { status: 'sent', attempts: 1, ended_at: AT + 5, receipt: '{"ts":"1"}', error: null },
  ]);
});

test('one that is tried again waits, and counts nothing yet', async () => {
  await store(one('a'));
  await outbox.settle(
    settlement({ status: 'pending', nextAt: AT + 2_000, error: 'slack: answered 429', receipt: null }),
  );
  expect(await claim(AT + 1_999)).toEqual([]);
  expect(await claim(AT + 2_000)).toMatchObject([{ id: 'a', attempts: 1 }]);
  expect(await readCounters(database.db)).toEqual([]);
});

test('the end is a line in the log of a run that has ended, after its last', async () => {
  await endedRun('r1');
  await store(one('a', { runId: 'r1' }), one('b', { runId: 'r1' }));
  await outbox.settle(settlement({ runId: 'r1' }));
  await outbox.settle(settlement({ id: 'b', runId: 'r1', status: 'failed' }));
  expect((await readEvents(database.db, 'r1', 2)).map(({ seq, event }) => [seq, event])).toEqual([
    [3, 'notification_sent'],
    [4, 'notification_sent'],
  ]);
});

test('the log of a run that goes on is left to its engine', async () => {
  await endedRun('r1', false);
  await store(one('a', { runId: 'r1' }));
  await outbox.settle(settlement({ runId: 'r1' }));
  expect(await readEvents(database.db, 'r1', 2)).toEqual([]);
});

test('rows go with their run', async () => {
  await endedRun('r1');
  await store(one('a', { runId: 'r1' }));
  await database.write(async (tx) => void (await tx.db.deleteFrom('runs').where('id', '=', 'r1').execute()));
  expect(await rows()).toEqual([]);
});

test('rows go after their time, which is longer for what did not arrive', async () => {
  const all = ['sent', 'forwarded', 'dismissed', 'failed', 'pending'] as const;
  await store(...all.map((id) => one(id, { createdAt: AT - 1 })), one('a', { createdAt: AT }));
  for (const status of all)
    await database.write(
      async (tx) => void (await tx.db.updateTable('notifications').set({ status }).where('id', '=', status).execute()),
    );
  await outbox.settle(settlement());
  expect(await prune({ done: AT, undelivered: AT - 1 })).toEqual({ done: 3, undelivered: 0 });
  expect((await rows()).map(({ id }) => id)).toEqual(['a', 'failed', 'pending']);
  expect(await prune({ done: AT, undelivered: AT })).toEqual({ done: 0, undelivered: 2 });
  expect((await rows()).map(({ id }) => id)).toEqual(['a']);
});

test('a reminder that was stopped stays as long as its run, which may be opened again', async () => {
  await store(one('a', { event: 'remind', createdAt: AT - 1 }), one('b', { event: 'remind', createdAt: AT - 1 }));
  await database.write(
    async (tx) =>
      void (await tx.db.updateTable('notifications').set({ status: 'dismissed' }).where('id', '=', 'a').execute()),
  );
  await outbox.settle(settlement({ id: 'b' }));
  expect(await prune({ done: AT, undelivered: AT })).toEqual({ done: 1, undelivered: 0 });
  expect((await rows()).map(({ id }) => id)).toEqual(['a']);
});

test('the definition is the one the run began with', async () => {
  await endedRun('r1');
  expect(await outbox.definitionOf('r1')).toEqual({ name: 'checkout' });
  expect(await outbox.definitionOf('gone')).toBeNull();
});
