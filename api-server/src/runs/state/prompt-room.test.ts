import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { createDailyBytes } from './daily-bytes.ts';
import { createPromptRoom } from './prompt-room.ts';
import { createShares } from './shares.ts';

const runBelow = (parent: ActiveRun | null, namespace: string | null = null) => ({ parent, namespace }) as ActiveRun;
const asked = { raw: { prompt: 'x'.repeat(1_000) } };

test('the prompts of a run and its sub-runs that go on have so much room together, and all are counted', () => {
  const memory = createShares(5_000);
  const room = createPromptRoom(memory, () => null);
  const top = runBelow(null);
  const first = room.hold(top, asked);
  expect([first, room.hold(runBelow(top), asked), room.hold(top, asked)].map(({ refused }) => refused?.type)).toEqual([
    undefined,
    undefined,
    'prompts_too_large',
  ]);
  expect(room.hold(runBelow(null), asked).refused).toBeNull();
  expect(memory.all()).toBeGreaterThan(3_000);
  first[Symbol.dispose]();
  expect(room.hold(top, asked).refused).toBeNull();
});

test('runs of one namespace leave room to those of others', () => {
  const room = createPromptRoom(createShares(2_500), () => null);
  const hold = (namespace: string) => room.hold(runBelow(null, namespace), asked);
  const [first, ...others] = Array.from({ length: 5 }, () => hold('shop'));
  expect(others.map(({ refused }) => refused?.type)).toEqual([undefined, undefined, undefined, 'prompts_too_large']);
  expect(hold('bank').refused).toBeNull();
  first?.[Symbol.dispose]();
  expect(hold('shop').refused).toBeNull();
});

test('what requests send counts as long as they go on, and not towards what a run keeps', () => {
  const room = createPromptRoom(createShares(5_000), () => null);
  const top = runBelow(null);
  for (let at = 0; at < 40_000; at++) room.hold(top, { raw: null, sends: 2_000 })[Symbol.dispose]();
  const first = room.hold(top, { raw: null, sends: 2_000 });
  expect(first.refused).toBeNull();
  expect(room.hold(top, { raw: null, sends: 2_000 }).refused).toMatchObject({ type: 'prompts_too_large' });
});

test('prompts count towards the bytes of a day of their namespace, also once they were answered', () => {
  const room = createPromptRoom(
    createShares(100_000),
    createDailyBytes(() => 2_500, Date.now),
  );
  const hold = (namespace: string) => room.hold(runBelow(null, namespace), asked);
  for (const namespace of ['shop', 'shop', 'pay']) hold(namespace)[Symbol.dispose]();
  expect([hold('shop').refused?.type, hold('pay').refused]).toEqual(['daily_bytes', null]);
});

test('of what requests send that counts for the day which is stored', () => {
  const dailyBytes = createDailyBytes(() => 2_500, Date.now);
  const room = createPromptRoom(createShares(100_000), dailyBytes);
  const hold = (stores?: number) =>
    room.hold(runBelow(null, 'shop'), { raw: null, sends: 10, ...(stores && { stores }) });
  for (const stores of [2_000, undefined]) expect(hold(stores).refused).toBeNull();
  expect([hold(1_000).refused?.type, hold().refused]).toEqual(['daily_bytes', null]);
});

test('the list of a fan-out counts with what its values take, one that was stored before a restart until its run ends', () => {
  const memory = createShares(20_000);
  const room = createPromptRoom(memory, () => null);
  const listed = (length: number) => ({ items: Array.from({ length }, () => []) });
  const resumed = (length: number) =>
    ({ ...runBelow(null), inFlight: new Map([['each', { rawResponse: listed(length) }]]) }) as unknown as ActiveRun;
  expect([200, 1_000].map((length) => room.hold(runBelow(null), { raw: listed(length) }).refused?.type)).toEqual([
    undefined,
    'prompts_too_large',
  ]);
  const before = memory.all();
  const run = resumed(200);
  expect([room.restore(run), room.restore(resumed(1_000))]).toEqual([true, false]);
  expect(memory.all() - before).toBeGreaterThan(10_000);
  for (let at = 0; at < 2; at++) room.drop(run);
  expect(memory.all()).toBe(before);
});

test('a prompt counts with what the places of its values take', () => {
  const memory = createShares(1_000_000);
  const room = createPromptRoom(memory, () => null);
  const promptSpans = Array.from({ length: 1_000 }, (_, at): [number, number] => [2 * at, 2 * at + 1]);
  room.hold(runBelow(null), { raw: { prompt: 'x'.repeat(2_000), promptSpans } });
  expect(memory.all()).toBeGreaterThan(75 * promptSpans.length);
});

test('a step that began before a restart goes on where it has no room, and counts', () => {
  const memory = createShares(1_000);
  const room = createPromptRoom(memory, () => null);
  const asks = { raw: null, sends: 2_000 };
  expect(room.hold(runBelow(null), asks).refused).toMatchObject({ type: 'prompts_too_large' });
  expect(memory.all()).toBe(0);
  using held = room.hold(runBelow(null), { ...asks, goesOn: true });
  expect([held.refused, memory.all()]).toEqual([null, 4_000]);
});

test('branches count while workers have them, and groups take one worker where a further run would have no room', () => {
  const memory = createShares(600 * 1024);
  const room = createPromptRoom(memory, () => null);
  const workers = Array.from({ length: 6 }, () => room.takeWorkers(runBelow(null, 'shop'), 50));
  expect(workers.map(({ count }) => count)).toEqual([50, 50, 50, 25, 1, 1]);
  expect(memory.all()).toBe(177 * 12 * 1024);
  expect(memory.isFull('shop')).toBe(true);
  expect(room.takeWorkers(runBelow(null, 'bank'), 50).count).toBe(50);
  for (const { count, leave } of workers) for (let at = 0; at < count; at++) leave();
  expect(memory.all()).toBe(50 * 12 * 1024);
});
