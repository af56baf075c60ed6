import { HOUR_MS, hourOf } from '../runs/state/hourly.ts';

export const DAY_MS = 24 * HOUR_MS;

/** How far back statistics look (Orchestration 4.4). */
export const TIME_RANGES = ['24h', '7d', '30d', 'all'] as const;
export type TimeRange = (typeof TIME_RANGES)[number];

/** Times in milliseconds; `from` is in it, `to` is not, null is no bound. */
export interface Window {
  from: number | null;
  to: number | null;
}

const LENGTH: Readonly<Record<Exclude<TimeRange, 'all'>, number>> = {
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

export const windowOf = (range: TimeRange, now: number): Window => ({
  from: range === 'all' ? null : now - LENGTH[range],
  to: null,
});

/** A window as whole hours, which sums say, and what sticks out at its ends, which rows say: together exactly the window. */
export interface HourParts {
  /** Null where no whole hour fits. */
  hours: Window | null;
  /** Each within one hour. */
  edges: { from: number; to: number }[];
}

export function hourParts({ from, to }: Window): HourParts {
  const first = from === null ? null : hourOf(from + HOUR_MS - 1);
  const last = to === null ? null : hourOf(to);
  if (first === null || last === null || first < last) {
    return { hours: { from: first, to: last }, edges: [...edge(from, first), ...edge(last, to)] };
  }
  return { hours: null, edges: first === last ? [...edge(from, first), ...edge(last, to)] : edge(from, to) };
}

const edge = (from: number | null, to: number | null): HourParts['edges'] =>
  from !== null && to !== null && from < to ? [{ from, to }] : [];
/** The window of the same length that ended where this one begins; null where there is none. */
export const windowBefore = (range: TimeRange, now: number): Window | null =>
  range === 'all' ? null : { from: now - 2 * LENGTH[range], to: now - LENGTH[range] };

export const WEEK_MS = 7 * DAY_MS;
/** Days up to which a history shows every day, and every week. */
const DAYS_BY_DAY = 60;
const DAYS_BY_WEEK = 400;

/** How wide the buckets of a chart are, so that there are at most about 60; `first` is the oldest hour there is, where all is shown. */
export function bucketWidth(range: TimeRange, { first, now }: { first: number | null; now: number }): number {
  switch (range) {
    case '24h':
      return HOUR_MS;
    case '7d':
      return 6 * HOUR_MS;
    case '30d':
      return DAY_MS;
    case 'all': {
      const days = (now - (first ?? now)) / DAY_MS;
      if (days <= DAYS_BY_DAY) return DAY_MS;
      return days <= DAYS_BY_WEEK ? WEEK_MS : 4 * WEEK_MS;
    }
    default:
      return range satisfies never;
  }
}

/** More would be too narrow to see. */
const MOST_BUCKETS = 120;

/** Where the buckets of a window begin, the oldest first; the first and the last may stick out of it. */
export function bucketsOf(
  window: Window,
  { bucketMs, first, now }: { bucketMs: number; first: number | null; now: number },
): number[] {
  const begin = (at: number) => at - (at % bucketMs);
  const last = begin(window.to === null ? now : window.to - 1);
  const from = Math.max(begin(window.from ?? first ?? now), last - (MOST_BUCKETS - 1) * bucketMs);
  return Array.from({ length: (last - from) / bucketMs + 1 }, (_, n) => from + n * bucketMs);
}
