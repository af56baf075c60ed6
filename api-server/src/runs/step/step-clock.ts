import { Stopped } from '../state/active-run.ts';

export interface StepClock {
  signal: AbortSignal;
  /** Milliseconds until the step's time is over, at least 1. */
  left(): number;
  stop(): void;
}

/** Time of a step that names none, such as a sub-run, which has its own; a day in milliseconds. */
const NO_TIMEOUT_MS = 86_400_000;

/** A signal that fires when the step's time is over or its run stops, whichever is first. */
export function stepClock(runSignal: AbortSignal, seconds: number | undefined, now: () => number): StepClock {
  const controller = new AbortController();
  const ends = now() + (seconds === undefined ? NO_TIMEOUT_MS : seconds * 1000);
  const follow = () => controller.abort(runSignal.reason);
  const expire = () => controller.abort(new Stopped('step_timeout', `no answer within ${seconds} s`));
  const timer = seconds === undefined ? undefined : setTimeout(expire, seconds * 1000);
  if (runSignal.aborted) follow();
  else runSignal.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    left: () => Math.max(1, Math.round(ends - now())),
    stop: () => {
      clearTimeout(timer);
      runSignal.removeEventListener('abort', follow);
    },
  };
}
