import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { failure } from './executor.ts';

function memoryUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('the start of a long message is all that stays of it in memory', () => {
  const long = (at: number) => JSON.parse(`"${at}${'x'.repeat(1_000_000)}"`) as string;
  const before = memoryUsed();
  const kept = Array.from({ length: 40 }, (_, at) => failure('failed', long(at)));
  expect(memoryUsed() - before).toBeLessThan(20_000_000);
  expect(kept[7]?.message).toBe(`7${'x'.repeat(1_999)}…`);
});
