import { forAsker } from '@signalbox/crds/process/asker';
import { afterEach, expect, test, vi } from 'vitest';
import { createHeld, holdingFor } from './held.ts';
import { createReadingRoom } from './reading-room.ts';

const MIB = 1024 * 1024;
const LIMITS = { bytes: 40 * MIB, maxWaiting: 3, waitMs: 1000 };
const settle = () => new Promise(setImmediate);
afterEach(() => void vi.useRealTimers());

/** Requests of tokens; each reads until it is taken. */
function site(limits = LIMITS) {
  const reading = createReadingRoom(limits);
  const begun: string[] = [];
  const ask = (token: string, mebibytes: number) => {
    const held = createHeld();
    const work = () => reading(mebibytes * MIB, async () => void begun.push(`${token} ${mebibytes}`));
    const done = forAsker(token, () => holdingFor(held, work)).then(
      () => 'read',
      (error: Error) => error.message,
    );
    return { done, taken: held.taken, sent: held.sent };
  };
  return { reading, begun, ask };
}

test('what does not fit waits until answers are taken, and who asks for little does not wait behind who asks for much', async () => {
  const { ask, begun } = site();
  const first = [ask('a', 6), ask('a', 7), ask('a', 5), ask('b', 4)];
  await settle();
  expect(begun).toEqual(['a 6']);
  first[0]?.taken();
  await settle();
  expect(begun).toEqual(['a 6', 'a 7']);
  first[1]?.taken();
  await settle();
  expect(begun.slice(2)).toEqual(['b 4', 'a 5']);
});

test('what is larger than the room is read alone, and small texts beside it', async () => {
  const { ask, begun } = site();
  const large = ask('a', 100);
  const other = ask('b', 1);
  await ask('c', 0.1).done;
  expect(begun).toEqual(['a 100', 'c 0.1']);
  large.taken();
  await other.done;
  expect(begun).toEqual(['a 100', 'c 0.1', 'b 1']);
});

test('who waits too long, or asks for most where too many wait, is told to come again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { ask, begun } = site();
  ask('a', 100);
  const waiting = ['a', 'a', 'a', 'b', 'a'].map((token) => ask(token, 9));
  expect(await waiting[4]?.done).toContain('too many large runs or reports are read at once');
  await vi.advanceTimersByTimeAsync(1000);
  expect(await waiting[3]?.done).toContain('too many large runs or reports are read at once');
  expect(begun).toEqual(['a 100']);
});

test('a request that was answered or left meanwhile holds nothing, nor does a read for none', async () => {
  const { ask, begun, reading } = site();
  const first = ask('a', 9);
  const left = ask('b', 9);
  await settle();
  left.taken();
  first.taken();
  await left.done;
  await reading(9 * MIB, async () => {});
  await ask('c', 9).done;
  expect(begun).toEqual(['a 9', 'c 9']);
});

test('a client that does not take its answer keeps another token waiting for a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { ask, begun } = site({ ...LIMITS, waitMs: 60_000 });
  const first = ask('a', 16);
  const more = ask('a', 16);
  ask('b', 16);
  await first.done;
  first.sent();
  await vi.advanceTimersByTimeAsync(1_000);
  await settle();
  more.sent();
  await vi.advanceTimersByTimeAsync(1_000);
  await settle();
  expect(begun).toEqual(['a 16', 'a 16', 'b 16']);
});
