import { Cron } from 'croner';
import type { LoadedPipeline } from '../definitions/snapshot.ts';

/** When a pipeline's schedule fires next, in milliseconds; null for one that never does again. */
export function nextFire({ config }: LoadedPipeline, after: number): number | null {
  if (!config.schedule) return null;
  return cron(config.schedule).nextRun(new Date(after))?.getTime() ?? null;
}

/** The latest fire in `(since, until]`; what was missed before it is missed for good. */
export function latestFire({ config }: LoadedPipeline, since: number, until: number): number | null {
  if (!config.schedule) return null;
  // The reference itself is not a previous run, so the window ends a millisecond later.
  const [latest] = cron(config.schedule).previousRuns(1, new Date(until + 1));
  const at = latest?.getTime();
  return at !== undefined && at > since && at <= until ? at : null;
}

/** Five fields in a time zone: at the change to summer time a skipped hour does not fire, a repeated one fires once. */
const cron = ({ cron: pattern, timezone }: { cron: string; timezone: string }): Cron =>
  new Cron(pattern, { timezone, paused: true });
