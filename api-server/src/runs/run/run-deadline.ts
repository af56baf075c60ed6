import { LIMITS } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { withDeadline, type Deadline } from '../state/deadline.ts';

/** No run goes on for ever: the statistics of a day are complete only when its runs have ended. */
const MOST_SECONDS = LIMITS.runSeconds + LIMITS.stepSeconds;

/** The pipeline's own `timeout_seconds`, counted from the trigger, or the time of the longest wait for a person and a day; aborts the run. */
export function runDeadline(
  { pipeline, controller, triggeredAt }: ActiveRun,
  now: number,
  follows?: AbortSignal,
): Deadline {
  const { timeout_seconds: seconds = MOST_SECONDS } = pipeline;
  return withDeadline({
    after: Math.max(0, triggeredAt + seconds * 1000 - now),
    why: 'run_timeout',
    message: `the run took longer than ${seconds} s`,
    controller,
    ...(follows && { follows }),
  });
}
