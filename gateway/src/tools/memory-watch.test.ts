import { expect, onTestFinished, test, vi } from 'vitest';
import { createMemoryWatch } from './memory-watch.ts';

const MIB = 1024 * 1024;
const ONE = { pid: 7, mark: 'of-one', limitBytes: 16 * MIB };

/** Why the watch ends a server that uses this; null where it lets it go on. */
function reasonFor(use: { bytes: number; processes: number }): Promise<string | null> {
  return new Promise((resolve) => {
    let looks = 0;
    const readUse = () => {
      looks += 1;
      if (looks === 2) resolve(null);
      return Promise.resolve(new Map([[ONE.pid, { ...use, strays: [] }]]));
    };
    const stop = createMemoryWatch(readUse, 1)(ONE, (reason) => {
      stop();
      resolve(reason);
    });
  });
}

test.each([
  [{ bytes: 16 * MIB, processes: 1000 }, null],
  [{ bytes: 16 * MIB + 1, processes: 1 }, 'used more than 16 MiB of memory'],
  [{ bytes: 0, processes: 1001 }, 'ran more than 1000 processes'],
])('a server that uses %j is ended: %s', async (use, reason) => {
  expect(await reasonFor(use)).toBe(reason);
});

test('no look begins while one goes on', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const going: (() => void)[] = [];
  const readUse = () =>
    new Promise<Map<number, never>>((resolve) => going.push(() => resolve(new Map<number, never>())));
  const stop = createMemoryWatch(readUse, 1000)(ONE, () => {});
  await vi.advanceTimersByTimeAsync(5000);
  expect(going).toHaveLength(1);
  going[0]?.();
  await vi.advanceTimersByTimeAsync(5000);
  expect(going).toHaveLength(2);
  stop();
});
