import { expect, test } from 'vitest';
import { createCapacity } from './capacity.ts';
import { createLanes } from './lanes.ts';
import type { Lane } from '../state/lane.ts';

const lane: Lane = { key: 'p\n', limit: 1, onLimit: 'queue' };
const open = new AbortController().signal;

test('places are given in the order of asking', async () => {
  const lanes = createLanes();
  const order: string[] = [];
  for (const id of ['a', 'b', 'c']) void lanes.take(lane, id, open).then(() => order.push(id));
  await Promise.resolve();
  lanes.leave(lane, 'a');
  await Promise.resolve();
  lanes.leave(lane, 'b');
  await Promise.resolve();
  expect(order).toEqual(['a', 'b', 'c']);
});

test('who stops waiting leaves no hole', async () => {
  const lanes = createLanes();
  await lanes.take(lane, 'a', open);
  const gone = new AbortController();
  const waiting = lanes.take(lane, 'b', gone.signal);
  const behind = lanes.take(lane, 'c', open);
  gone.abort();
  expect(await waiting).toBe(false);
  lanes.leave(lane, 'a');
  expect(await behind).toBe(true);
});

test('leaving without a place changes nothing', () => {
  const lanes = createLanes();
  expect(lanes.tryTake(lane, 'a')).toBe(true);
  lanes.leave(lane, 'b');
  expect(lanes.tryTake(lane, 'b')).toBe(false);
});

test('capacity hands a slot over to who waits, and counts right', async () => {
  const capacity = createCapacity(1);
  expect(capacity.tryTake()).toBe(true);
  const waiting = capacity.take(open);
  expect([capacity.waiting(), capacity.tryTake()]).toEqual([1, false]);
  capacity.release();
  await waiting;
  expect([capacity.active(), capacity.waiting()]).toEqual([1, 0]);
  capacity.release();
  expect(capacity.active()).toBe(0);
});
