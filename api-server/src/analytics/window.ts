import { HOUR_MS, hourOf } from '../runs/hourly.ts';

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
