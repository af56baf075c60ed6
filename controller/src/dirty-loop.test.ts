import { expect, test } from 'vitest';
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
  await expect.poll(() => runs).toBe(1);
  for (let mark = 0; mark < 100; mark++) loop.mark();
  gate.resolve();
  await expect.poll(() => runs).toBe(2);
  await loop.stop();
  loop.mark();
  expect(runs).toBe(2);
});

test('what failed is tried again without another mark, and marks do not hurry it', async () => {
  const ranAt: number[] = [];
  const loop = loopOf(async () => {
    if (ranAt.push(performance.now()) < 2) throw new Error('not yet');
  });
  loop.mark();
  await expect.poll(() => ranAt.length).toBe(1);
  const marks = setInterval(loop.mark, 5);
  await expect.poll(() => ranAt.length).toBe(2);
  clearInterval(marks);
  const [failedAt = 0, againAt = 0] = ranAt;
  expect(againAt - failedAt).toBeGreaterThan(200);
  await loop.stop();
});
