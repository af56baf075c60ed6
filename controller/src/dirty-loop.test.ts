import { expect, test, vi } from 'vitest';
import { createDirtyLoop } from './dirty-loop.ts';

const loopOf = (run: () => Promise<void>) => createDirtyLoop({ run, failed: () => undefined, random: () => 0 });

test('many marks are met by one run, and a mark while it runs by one more', async () => {
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const loop = loopOf(async () => {
    runs++;
    await gate.promise;
  });
  for (let mark = 0; mark < 100; mark++) loop.mark();
  await vi.waitFor(() => expect(runs).toBe(1));
  for (let mark = 0; mark < 100; mark++) loop.mark();
  gate.resolve();
  await vi.waitFor(() => expect(runs).toBe(2));
  await loop.stop();
  loop.mark();
  expect(runs).toBe(2);
});

test('what failed is tried again without another mark, and marks do not hurry it', async () => {
  let runs = 0;
  const loop = loopOf(async () => {
    if (++runs < 2) throw new Error('not yet');
  });
  loop.mark();
  await vi.waitFor(() => expect(runs).toBe(1));
  const failedAt = performance.now();
  const marks = setInterval(loop.mark, 5);
  await vi.waitFor(() => expect(runs).toBe(2), { timeout: 5000 });
  clearInterval(marks);
  expect(performance.now() - failedAt).toBeGreaterThan(200);
  await loop.stop();
});
