import { expect, test } from 'vitest';
import { createRateLimits, MOST_HELD_MS } from './rate-limits.ts';

const YEAR_MS = 365 * 86_400_000;
const HOUR_MS = 3_600_000;
/** Rows wait up to 16 s more, so that they do not come back together. */
const SPREAD_MS = 16_000;
const CHAT = { target: 'chat', tenant: null };

test('a receiver that wants to be left alone for a year is asked again after ten minutes', () => {
  const limits = createRateLimits();
  limits.hold(CHAT, 0, YEAR_MS);
  expect(limits.wait('chat', 'a', 1)).toBeGreaterThan(0);
  expect(limits.wait('chat', 'a', 1)).toBeLessThan(MOST_HELD_MS + SPREAD_MS);
  expect(limits.wait('chat', 'a', MOST_HELD_MS)).toBe(0);
});

test.each([
  ['limited the rate', (limits: ReturnType<typeof createRateLimits>) => limits.hold(CHAT, 5 * HOUR_MS, 30_000)],
  ['did not answer', (limits: ReturnType<typeof createRateLimits>) => limits.silent('chat', 5 * HOUR_MS + 30_000)],
])('a clock that is set back by hours holds up nothing for a receiver that %s', (_what, meet) => {
  const limits = createRateLimits();
  meet(limits);
  expect(limits.wait('chat', 'a', 0)).toBe(0);
});
