/**
 * Counts of durations in buckets whose bounds grow by the same factor (a DDSketch): sketches of days add up to those of weeks, and
 * every percentile read from them is off by less than 1 %.
 */
export const GROWTH = 1.0195;

/** By bucket, how many; bucket `n` holds what is over GROWTH^(n-1) and at most GROWTH^n milliseconds. */
export type Sketch = Map<number, number>;

export function addTo(sketch: Sketch, bucket: number, count: number): void {
  sketch.set(bucket, (sketch.get(bucket) ?? 0) + count);
}

/** Milliseconds that at least 95 of 100 do not exceed; null where nothing was counted. */
export function p95Of(sketch: Sketch): number | null {
  const total = sketch.values().reduce((sum, count) => sum + count, 0);
  const rank = Math.floor((total * 95 + 99) / 100);
  let seen = 0;
  for (const [bucket, count] of [...sketch].toSorted(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= rank) return valueOf(bucket);
  }
  return null;
}

/** In the middle of the bucket, relative to its bounds. Whole numbers, which durations are, fit the smallest ones exactly. */
const valueOf = (bucket: number): number => Math.round((2 * GROWTH ** bucket) / (GROWTH + 1));
