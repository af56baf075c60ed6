import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withDeadline } from './deadline.ts';
import { Stopped, stopReason } from './stopped.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limit = { after: 1_000, why: 'step_timeout', message: 'no answer within 1 s' } as const;

test('the signal fires with the reason when the time is over', () => {
  using deadline = withDeadline(limit);
  vi.advanceTimersByTime(999);
  expect(stopReason(deadline.signal)).toBeNull();
  vi.advanceTimersByTime(1);
  expect(stopReason(deadline.signal)).toMatchObject({ why: 'step_timeout', message: 'no answer within 1 s' });
});

test('it fires with the reason of what it follows, before and after it began', () => {
  const run = new AbortController();
  using running = withDeadline({ ...limit, follows: run.signal });
  run.abort(new Stopped('shutdown', 'the service stops'));
  using late = withDeadline({ ...limit, follows: run.signal });
  expect(stopReason(running.signal)?.why).toBe('shutdown');
  expect(stopReason(late.signal)?.why).toBe('shutdown');
});

test('once it is disposed of, no timer is left and nothing fires', () => {
  const run = new AbortController();
  const deadline = withDeadline({ ...limit, follows: run.signal });
  deadline[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  run.abort();
  expect(deadline.signal.aborted).toBe(false);
});

test('without a time of its own it sets no timer', () => {
  using _ = withDeadline({ ...limit, after: undefined });
  expect(vi.getTimerCount()).toBe(0);
});
