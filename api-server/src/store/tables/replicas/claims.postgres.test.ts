import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimRuns, releaseDead } from './claims.ts';
import type { Database } from '../../db/database.ts';
import { appendEvents } from '../event-writes.ts';
import { readEvents } from '../bodies/run-bodies.ts';
import { intakeOn } from '../../fixtures/intake-on.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { type Membership, openMembership } from '../../db/membership.ts';
import { AT, notificationOf } from '../../../notify/fixtures/run.ts';
import { createCapacity } from '../../../runs/run/capacity.ts';
import { createOutbox, insertNotifications } from '../outbox.ts';
import { takeFire } from '../schedules.ts';
import { joinGroup } from './shared-concurrency.ts';
import type { Verdict } from '../../../triggers/model.ts';

let site: TestDatabase;
let databases: Database[];
let members: Membership[];

/** A process that shares the database, as far as the store goes. */
async function member(leaseMs = 60_000, fenced = true) {
  const database = await site.open({ fenced });
  const words: string[] = [];
  const url = 'url' in site.location ? site.location.url : '';
  const heard = (word: string) => void words.push(word);
  const membership = await openMembership(url, { name: 'test', leaseMs, heard, patienceMs: 0 });
  const epoch = await membership.join(null);
  database.writeAs?.(epoch);
  databases.push(database);
  members.push(membership);
  return { database, membership, epoch, words };
}
const takeOver = ({ database }: { database: Database }) =>
  database.write(async (tx) => ((await releaseDead(tx)) > 0 ? claimRuns(tx, 100) : []));

const runIdOf = (verdict: Verdict): string => ('runId' in verdict ? verdict.runId : '');

beforeEach(async () => {
  site = await newTestDatabase();
  databases = [];
  members = [];
});
afterEach(async () => {
  await Promise.all(members.map((membership) => membership.close()));
  await Promise.all(databases.map((database) => database.close()));
  await site.remove();
});

test('what a replica had goes to one other once its lease is over, and it writes nothing any more', async () => {
  const old = await member(0);
  const service = intakeOn(old.database);
  await service.take('a', 'b', 'c');
  const [one, two] = [await member(), await member()];
  const taken = await Promise.all([takeOver(one), takeOver(two)]);
  expect(taken.flat().toSorted()).toEqual(service.begun.toSorted());
  await expect(service.take('d')).rejects.toMatchObject({ type: 'unavailable' });
  expect(await old.membership.renew(old.epoch)).toBeNull();
  const again = await old.membership.join(old.epoch);
  old.database.writeAs?.(again);
  expect(again).toBeGreaterThan(old.epoch);
  expect(await service.take('d')).toMatchObject([{ status: 'accepted' }]);
});

test('without the check of the epoch a replica that was taken for dead goes on writing', async () => {
  const old = await member(0, false);
  await takeOver(await member());
  expect(await intakeOn(old.database).take('d')).toMatchObject([{ status: 'accepted' }]);
});

test('nobody is taken for dead in the middle of a transaction', async () => {
  const old = await member(0);
  const other = await member();
  const { promise, resolve } = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const writing = old.database.write(async () => {
    began.resolve();
    await promise;
  });
  await began.promise;
  expect(await other.database.write(releaseDead)).toBe(0);
  resolve();
  await writing;
  expect(await other.database.write(releaseDead)).toBe(1);
});

test('runs that wait are claimed once, the oldest first, as far as there is room', async () => {
  const [one, two] = [await member(), await member()];
  const full = intakeOn(one.database, { capacity: createCapacity(0), maxQueued: 100 });
  const ids: string[] = [];
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) ids.push(...(await full.take(key)).map(runIdOf));
  await expect.poll(() => two.words).toContain('work');
  expect(await two.database.write((tx) => claimRuns(tx, 2))).toEqual(ids.slice(0, 2));
  const rest = await Promise.all([one, two].map(({ database }) => database.write((tx) => claimRuns(tx, 3))));
  const others = await Promise.all([one, two].map(({ database }) => database.write((tx) => claimRuns(tx, 3))));
  expect([...rest, ...others].flat().toSorted()).toEqual(ids.slice(2).toSorted());
});

test('600 runs that wait in one full concurrency group do not keep the run behind them from being claimed', async () => {
  const one = await member();
  const full = intakeOn(one.database, { capacity: createCapacity(0), maxQueued: 1_000 });
  const inGroup = (await full.take(...Array.from({ length: 601 }, (_, index) => `k${index}`))).map(runIdOf);
  const [behind] = (await full.take('behind')).map(runIdOf);
  const group = { key: 'group', limit: 1, onLimit: 'queue' as const };
  await one.database.write(async (tx) => {
    for (const [index, runId] of inGroup.entries()) await joinGroup(tx, group, { runId, entered: index === 0 });
  });
  expect(await one.database.write((tx) => claimRuns(tx, 5))).toEqual([inGroup[0], behind]);
});

test('the replica with the oldest epoch leads, and the next one when it has left', async () => {
  const [one, two] = [await member(), await member()];
  expect((await one.membership.renew(one.epoch))?.leads).toBe(true);
  expect((await two.membership.renew(two.epoch))?.leads).toBe(false);
  await one.membership.leave(one.epoch);
  expect((await two.membership.renew(two.epoch))?.leads).toBe(true);
});

test('of two processes that look at once, one has each message and one has each fire', async () => {
  const [one, two] = [await member(), await member()];
  const messages = Array.from({ length: 40 }, (_, index) => notificationOf({ id: `m${index}`, runId: null }));
  await one.database.write((tx) => insertNotifications(tx, messages));
  const claim = ({ database }: { database: Database }) =>
    createOutbox(database).claim({ now: AT, until: AT + 1, limit: 30 });
  const first = (await Promise.all([claim(one), claim(two)])).flat();
  const rest = (await Promise.all([claim(one), claim(two)])).flat();
  expect([...first, ...rest].map(({ id }) => id).toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
  const fires = Array.from({ length: 20 }, (_, at) => at);
  const take = ({ database }: { database: Database }, at: number) =>
    database.write((tx) => takeFire(tx, 'p', { at, now: at }));
  const taken = await Promise.all([
    ...fires.map((at) => take(one, at)),
    ...fires.toReversed().map((at) => take(two, at)),
  ]);
  expect(taken.filter(Boolean)).toHaveLength(fires.length);
});

test('lines that two processes add to the log of an ended run are all kept', async () => {
  const [one, two] = [await member(), await member()];
  const service = intakeOn(one.database);
  await service.take('k');
  const [run = ''] = service.begun;
  const line = { ts: new Date(AT).toISOString(), level: 'info' as const, event: 'e', msg: 'm', run_id: run };
  const messages = Array.from({ length: 20 }, (_, index) => notificationOf({ id: `m${index}`, runId: run }));
  await one.database.write(async (tx) => {
    await appendEvents(tx, run, { firstSeq: 1, json: JSON.stringify([{ seq: 1, ...line }]) });
    await insertNotifications(tx, messages);
    await tx.db.updateTable('runs').set({ status: 'completed' }).execute();
  });
  const settled = messages.map(({ id }, index) =>
    createOutbox((index % 2 === 0 ? one : two).database).settle({
      id,
      runId: run,
      status: 'sent',
      attempts: 1,
      tries: [],
      at: AT,
      nextAt: null,
      error: null,
      receipt: null,
      forward: null,
      next: null,
      counters: [],
      event: line,
    }),
  );
  await Promise.all(settled);
  expect(await readEvents(one.database.db, run, 0)).toHaveLength(21);
});
