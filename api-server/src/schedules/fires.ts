import { Cron } from 'croner';
import type { LoadedPipeline } from '../definitions/snapshot.ts';

export interface Schedule {
  cron: string;
  timezone: string;
}

/** When a pipeline's schedule fires next, in milliseconds; null for one that never does again. */
export const nextFire = ({ config }: LoadedPipeline, after: number): number | null =>
  config.schedule ? nextOf(config.schedule, after) : null;

/** The latest fire in `(since, until]`; what was missed before it is missed for good. */
export const latestFire = ({ config }: LoadedPipeline, since: number, until: number): number | null =>
  config.schedule ? latestOf(config.schedule, since, until) : null;

/** The same of a schedule without a pipeline. */
export const nextOf = (schedule: Schedule, after: number): number | null =>
  cron(schedule).nextRun(new Date(after))?.getTime() ?? null;

export function latestOf(schedule: Schedule, since: number, until: number): number | null {
  // The reference itself is not a previous run, so the window ends a millisecond later.
  const [latest] = cron(schedule).previousRuns(1, new Date(until + 1));
  const at = latest?.getTime();
  return at !== undefined && at > since && at <= until ? at : null;
}

/** The fires in `(since, until]`, the newest first, at most `most`. */
export function firesBetween({ config }: LoadedPipeline, since: number, until: number, most: number): number[] {
  if (!config.schedule) return [];
  const before = cron(config.schedule).previousRuns(most, new Date(until + 1));
  return before.map((at) => at.getTime()).filter((at) => at > since && at <= until);
}

/** Five fields in a time zone: at the change to summer time a skipped hour does not fire, a repeated one fires once. */
const cron = ({ cron: pattern, timezone }: Schedule): Cron => new Cron(pattern, { timezone, paused: true });
