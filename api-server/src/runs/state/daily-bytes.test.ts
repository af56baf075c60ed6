import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { createDailyBytes } from './daily-bytes.ts';

const DAY_MS = 86_400_000;
const runOf = (namespace: string | null) => ({ namespace }) as ActiveRun;

test('a namespace has so many bytes a day, other namespaces and the operator have theirs', () => {
  let at = 20_000 * DAY_MS;
  const spend = createDailyBytes(
    (namespace) => (namespace === 'free' ? null : 1_000),
    () => at,
  );
  const shop = runOf('shop');
  expect(spend(shop, 900)).toBeNull();
  expect(spend(shop, 200)).toMatchObject({
    type: 'daily_bytes',
    message: expect.stringContaining('daily_bytes of tenancy.namespaces'),
    retryable: false,
  });
  expect(spend(shop, 100)).toBeNull();
  for (const other of ['pay', null, 'free']) expect(spend(runOf(other), 1_000)).toBeNull();
  expect([spend(runOf(null), 5_000), spend(runOf('free'), 5_000)]).toEqual([null, null]);
  at += DAY_MS - 1;
  expect(spend(shop, 1)).not.toBeNull();
  at += 1;
  expect(spend(shop, 1_000)).toBeNull();
});
