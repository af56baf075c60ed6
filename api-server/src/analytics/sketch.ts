/**
 * Counts of durations in buckets whose bounds grow by the same factor (a DDSketch): sketches of days add up to those of weeks, and
 * every percentile read from them is off by less than 1%.
 */
export const GROWTH = 1.0195;

/** How many durations are in each bucket; bucket `n` holds what is over GROWTH^(n-1) and at most GROWTH^n milliseconds. */
export type Sketch = Float64Array;

/** More than any duration needs: that of the largest safe integer is in bucket 1902. */
const BUCKETS = 2_048;

export const emptySketch = (): Sketch => new Float64Array(BUCKETS);

const LN_GROWTH = Math.log(GROWTH);

export function addTo(sketch: Sketch, ms: number): void {
  const bucket = Math.ceil(Math.log(Math.max(ms, 1)) / LN_GROWTH);
  sketch[bucket] = (sketch[bucket] ?? 0) + 1;
}

/** Adds what is stored as JSON, `{"bucket":count}`, to several sketches. */
export function addStored(sketches: readonly Sketch[], counts: string): void {
  for (const [bucket, count] of Object.entries(JSON.parse(counts) as Record<string, number>))
    for (const sketch of sketches) sketch[Number(bucket)] = (sketch[Number(bucket)] ?? 0) + count;
}

/** Milliseconds that at least 95 of 100 do not exceed; null where nothing was counted. */
export function p95Of(sketch: Sketch): number | null {
  const total = sketch.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.floor((total * 95 + 99) / 100);
  let [bucket, seen] = [0, sketch[0] ?? 0];
  while (seen < rank) {
    bucket += 1;
    seen += sketch[bucket] ?? 0;
  }
  return valueOf(bucket);
}

/** In the middle of the bucket, relative to its bounds. Whole numbers, which durations are, fit the smallest ones exactly. */
const valueOf = (bucket: number): number => Math.round((2 * GROWTH ** bucket) / (GROWTH + 1));
