import { Cron } from 'croner';
import type { LoadedPipeline } from '../definitions/snapshot.ts';

export interface Schedule {
  cron: string;
  timezone: string;
}

/** Of each schedule of a snapshot: after `from` it fires at `next` first. To look for that takes up to milliseconds, years of leap days above all. */
const known = new WeakMap<Schedule, { from: number; next: number | null }>();

/** When a pipeline's schedule fires next, in milliseconds; null for one that never does again. */
export function nextFire({ config: { schedule } }: LoadedPipeline, after: number): number | null {
  if (!schedule) return null;
  const kept = known.get(schedule);
  if (kept && after >= kept.from && (kept.next === null || after < kept.next)) return kept.next;
  const next = nextOf(schedule, after);
  known.set(schedule, { from: after, next });
  return next;
}

function firesWithin(pipeline: LoadedPipeline, since: number, until: number): boolean {
  const next = nextFire(pipeline, since);
  return next !== null && next <= until;
}

/** The latest fire in `(since, until]`; what was missed before it is missed for good. */
export const latestFire = (pipeline: LoadedPipeline, since: number, until: number): number | null =>
  pipeline.config.schedule && firesWithin(pipeline, since, until)
    ? latestOf(pipeline.config.schedule, since, until)
    : null;

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
export function firesBetween(pipeline: LoadedPipeline, since: number, until: number, most: number): number[] {
  const { schedule } = pipeline.config;
  if (!schedule || !firesWithin(pipeline, since, until)) return [];
  const before = cron(schedule).previousRuns(most, new Date(until + 1));
  return before.map((at) => at.getTime()).filter((at) => at > since && at <= until);
}

/** Five fields in a time zone: at the change to summer time a skipped hour does not fire, a repeated one fires once. */
const cron = ({ cron: pattern, timezone }: Schedule): Cron => new Cron(pattern, { timezone, paused: true });
