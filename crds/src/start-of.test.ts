import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { cutShort, startOf } from './start-of.ts';

function memoryUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('the start of a text is all that stays of it in memory', () => {
  const long = (at: number) => JSON.parse(`"${at}${'x'.repeat(1_000_000)}"`) as string;
  const before = memoryUsed();
  const kept = Array.from({ length: 40 }, (_, at) => [startOf(long(at), 100), cutShort(long(at), 100)]);
  expect(memoryUsed() - before).toBeLessThan(20_000_000);
  expect(kept[7]).toEqual([`7${'x'.repeat(99)}`, `7${'x'.repeat(99)}…`]);
});

test('a short text stays as it is', () => {
  expect([startOf('é😀', 3), cutShort('é😀', 3)]).toEqual(['é😀', 'é😀']);
});
