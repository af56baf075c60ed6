import { expect, test, vi } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import { stopReason } from '../state/stopped.ts';
import { runDeadline } from './run-deadline.ts';

const DAY_MS = 86_400_000;

/** A run as an older version may have left it, at this age. */
function resumedAt(age: number, pipeline: { timeout_seconds?: number } = {}) {
  const run = { pipeline, controller: new AbortController(), triggeredAt: 5 };
  return { run, deadline: runDeadline(run as unknown as ActiveRun, 5 + age) };
}

test('a run without a time of its own has eight days from its trigger, whenever it is resumed', () => {
  vi.useFakeTimers();
  try {
    const { run, deadline } = resumedAt(3 * DAY_MS);
    vi.advanceTimersByTime(5 * DAY_MS - 1);
    expect(stopReason(run.controller.signal)).toBeNull();
    vi.advanceTimersByTime(1);
    expect(stopReason(run.controller.signal)).toMatchObject({
      why: 'run_timeout',
      message: 'the run took longer than 691200 s',
    });
    deadline[Symbol.dispose]();
    const late = resumedAt(20 * DAY_MS);
    vi.advanceTimersByTime(0);
    expect(stopReason(late.run.controller.signal)?.why).toBe('run_timeout');
    late.deadline[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('the time of the pipeline counts where it has one', () => {
  vi.useFakeTimers();
  try {
    const { run } = resumedAt(0, { timeout_seconds: 60 });
    vi.advanceTimersByTime(60_000);
    expect(stopReason(run.controller.signal)).toMatchObject({ message: 'the run took longer than 60 s' });
  } finally {
    vi.useRealTimers();
  }
});
