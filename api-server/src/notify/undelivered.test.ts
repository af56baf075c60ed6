import { expect, test } from 'vitest';
import { createUndeliveredCount, type Undelivered } from './undelivered.ts';

const { signal } = new AbortController();
const failed = (count: number): Undelivered[] => [{ channel: 'slack', state: 'failed', count }];

test('messages are counted once at a time, and not again for those who ask within a second', async () => {
  const counts: PromiseWithResolvers<Undelivered[]>[] = [];
  let clock = 0;
  const read = () => counts[counts.push(Promise.withResolvers()) - 1]!.promise;
  const undelivered = createUndeliveredCount(read, () => clock);
  const first = [undelivered.recent(signal), undelivered.count(signal)];
  expect(counts).toHaveLength(1);
  counts[0]?.resolve(failed(1));
  expect(await Promise.all(first)).toEqual([failed(1), failed(1)]);
  clock = 999;
  expect(await undelivered.recent(signal)).toEqual(failed(1));
  expect(counts).toHaveLength(1);
  clock = 1_000;
  const second = undelivered.recent(signal);
  expect(counts).toHaveLength(2);
  expect(await undelivered.recent(signal)).toEqual(failed(1));
  counts[1]?.resolve(failed(2));
  expect([await second, undelivered.last()]).toEqual([failed(2), failed(2)]);
});

test('after a count that failed there is a new one', async () => {
  let broken = true;
  const undelivered = createUndeliveredCount(() =>
    broken ? Promise.reject(new Error('busy')) : Promise.resolve(failed(1)),
  );
  await expect(undelivered.recent(signal)).rejects.toThrow('busy');
  broken = false;
  expect(await undelivered.recent(signal)).toEqual(failed(1));
});
