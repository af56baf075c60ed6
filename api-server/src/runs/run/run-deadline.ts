import type { ActiveRun } from '../state/active-run.ts';
import { withDeadline, type Deadline } from '../state/deadline.ts';

/** The pipeline's own `timeout_seconds`, counted from the trigger; aborts the run. */
export function runDeadline(
  { pipeline, controller, triggeredAt }: ActiveRun,
  now: number,
  follows?: AbortSignal,
): Deadline {
  const { timeout_seconds: seconds } = pipeline;
  return withDeadline({
    after: seconds === undefined ? undefined : Math.max(0, triggeredAt + seconds * 1000 - now),
    why: 'run_timeout',
    message: `the run took longer than ${seconds} s`,
    controller,
    ...(follows && { follows }),
  });
}
