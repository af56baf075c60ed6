import type { RunMetadata } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { RunQueue, type Ticket } from './run-queue.ts';
import { shareOf } from './share.ts';
import { WaitingRoom } from './waiting-room.ts';

const LIMITS = { maxConcurrentRuns: 4, maxQueuedRuns: 8, maxWaitingApprovals: 1 };
const agent = 'a';
const API_SERVER = { approves: 'all' as const, caller: { token: 'approve', address: '10.0.0.1' } };
const of = (metadata: RunMetadata) => shareOf({ agent, metadata }, API_SERVER);
const TENANT = of({ namespace: 'shop', pipeline: 'checkout' });
const OTHER = of({ namespace: 'pay', pipeline: 'refunds' });
const PIPELINE = of({ pipeline: 'nightly' });
const { signal } = new AbortController();

/** A queue, and in which order runs got their slots. */
function queueOf(limits = LIMITS) {
  const queue = new RunQueue(limits);
  const started: string[] = [];
  const enter = (name: string, share = TENANT): Ticket | null => {
    const ticket = queue.enter(share, signal, () => {});
    void ticket?.ready.then(() => started.push(name));
    return ticket;
  };
  return { queue, started, enter };
}

test('a namespace holds at most three quarters of the slots, and of the places', async () => {
  const { queue, enter } = queueOf();
  const entered = Array.from({ length: 20 }, (_, at) => enter(`shop ${at}`));
  expect([queue.active(), queue.queued()]).toEqual([3, 6]);
  expect(entered.filter((ticket) => ticket === null)).toHaveLength(11);
  expect(enter('pay', OTHER)?.position).toBe(0);
  expect(enter('pay again', OTHER)?.position).toBe(7);
});

test('a free slot goes to whom has the fewest running', async () => {
  const { enter, started } = queueOf();
  const first = enter('shop 0');
  for (const at of [1, 2, 3, 4]) enter(`shop ${at}`);
  enter('pay 0', OTHER);
  enter('nightly', PIPELINE);
  first?.release();
  await expect.poll(() => started).toEqual(['shop 0', 'shop 1', 'shop 2', 'pay 0', 'nightly']);
});

test('what is not of a tenant takes all slots and places, in its order', async () => {
  const { queue, enter, started } = queueOf();
  const entered = Array.from({ length: 12 }, (_, at) => enter(`nightly ${at}`, PIPELINE));
  expect([queue.active(), queue.queued(), enter('one more', PIPELINE)]).toEqual([4, 8, null]);
  entered[2]?.release();
  await expect.poll(() => started.slice(4)).toEqual(['nightly 4']);
});

test('one slot and one place are for everybody', () => {
  const { enter } = queueOf({ ...LIMITS, maxConcurrentRuns: 1, maxQueuedRuns: 1 });
  expect([enter('a')?.position, enter('b')?.position, enter('c')]).toEqual([0, 1, null]);
});

test('a namespace whose runs wait for approvals leaves others the right to wait without a slot', () => {
  const { queue } = queueOf({ ...LIMITS, maxWaitingApprovals: 4 });
  const rested = Array.from({ length: 9 }, () => queue.rest(TENANT)).filter((one) => one !== null);
  expect(rested).toHaveLength(3);
  expect([OTHER, PIPELINE].map((share) => queue.rest(share) !== null)).toEqual([true, false]);
  for (const leave of rested) leave();
  expect(queue.rest(PIPELINE)).not.toBeNull();
});

test('runs of a namespace whose approvals are decided at once take no places of the queue', () => {
  const { queue, enter } = queueOf({ ...LIMITS, maxQueuedRuns: 2 });
  for (const at of [1, 2, 3]) enter(`shop ${at}`);
  enter('pay', OTHER);
  for (let at = 0; at < 8; at++) queue.enterFirst(TENANT, signal);
  expect(enter('pay again', OTHER)).not.toBeNull();
});

test('of runs that had a slot before, the one that waits longest goes first', async () => {
  const { queue, enter, started } = queueOf({ ...LIMITS, maxConcurrentRuns: 1 });
  const first = enter('nightly', PIPELINE);
  for (const name of ['decided first', 'decided second'])
    void queue.enterFirst(PIPELINE, signal).ready.then(() => started.push(name));
  first?.release();
  await expect.poll(() => started).toEqual(['nightly', 'decided first']);
});

test('a namespace whose agents have no pod leaves places to those of others', () => {
  const room = new WaitingRoom(4);
  let waits = 0;
  const ready = () => {
    waits += 1;
    return new Promise<boolean>(() => {});
  };
  const enter = (share: typeof TENANT) => room.enter(share, ready, () => null);
  expect(Array.from({ length: 9 }, () => enter(TENANT)).filter((ticket) => ticket !== null)).toHaveLength(3);
  expect([enter(OTHER), enter(PIPELINE)].map((ticket) => ticket === null)).toEqual([false, true]);
  // Those without a place wait for nothing.
  expect(waits).toBe(4);
});
