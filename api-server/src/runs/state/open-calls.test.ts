import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { enterCall } from './open-calls.ts';

const runBelow = (parent: ActiveRun | null, namespace: string | null = null) => ({ parent, namespace }) as ActiveRun;
const never = new AbortController().signal;

/** Asks for places; those that were given so far. */
function ask(run: ActiveRun, times: number, signal = never): Disposable[] {
  const given: Disposable[] = [];
  for (let at = 0; at < times; at++) void enterCall(run, signal).then((place) => given.push(place));
  return given;
}
const giveBack = (places: Disposable[]) => {
  for (const place of places.splice(0)) place[Symbol.dispose]();
};

test('a run and its sub-runs have so many calls open at a time, the others wait for theirs', async () => {
  const top = runBelow(null);
  const [own, below] = [ask(top, 60), ask(runBelow(top), 10)];
  const other = ask(runBelow(null), 5);
  await setImmediate();
  expect([own.length, below.length, other.length]).toEqual([60, 4, 5]);
  giveBack(own);
  await setImmediate();
  expect(below.length).toBe(10);
  for (const places of [below, other]) giveBack(places);
});

test('who gives up takes no place, and none is lost by it', async () => {
  const run = runBelow(null);
  const first = ask(run, 64);
  const stop = new AbortController();
  const gone = ask(run, 3, stop.signal);
  const next = ask(run, 1);
  await setImmediate();
  stop.abort();
  await setImmediate();
  expect([gone.length, next.length]).toEqual([3, 0]);
  giveBack(gone);
  await setImmediate();
  expect(next.length).toBe(0);
  giveBack(first);
  await setImmediate();
  expect(next.length).toBe(1);
  giveBack(next);
});

test('runs of one namespace leave places to those of others, and take turns', async () => {
  const shop = Array.from({ length: 8 }, () => ask(runBelow(null, 'shop'), 64));
  await setImmediate();
  expect(shop.flat().length).toBe(256);
  const bank = ask(runBelow(null, 'bank'), 64);
  await setImmediate();
  expect(bank.length).toBe(64);
  for (const places of [bank, ...shop]) giveBack(places);
  await setImmediate();
  expect(shop.flat().length).toBeGreaterThan(200);
  while (shop.flat().length > 0) {
    for (const places of shop) giveBack(places);
    await setImmediate();
  }
});
