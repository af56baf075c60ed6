import { bucketOf, emptySketch, mergedSketch, p95Of, type Sketch } from './sketch.ts';

/** How durations in milliseconds are kept whose 95th percentile is asked, by nearest rank. */
export interface Scale<D> {
  /** What is added for a duration: computed once, also where it is added several times. */
  keyOf(ms: number): number;
  empty(): D;
  add(to: D, key: number): void;
  merged(all: Iterable<D>): D;
  /** The smallest that at least 95 of 100 do not exceed; null without any. */
  p95(of: D): number | null;
}

export const EXACT: Scale<number[]> = {
  keyOf: (ms) => ms,
  empty: () => [],
  add: (to, ms) => void to.push(ms),
  merged: (all) => [...all].flat(),
  p95: (of) => Float64Array.from(of).sort()[Math.floor((of.length * 95 + 99) / 100) - 1] ?? null,
};

/** Within 1%, in the same space however many there are. */
export const SKETCHED: Scale<Sketch> = {
  keyOf: bucketOf,
  empty: emptySketch,
  add: (to, bucket) => {
    to[bucket] = (to[bucket] ?? 0) + 1;
  },
  merged: mergedSketch,
  p95: p95Of,
};
