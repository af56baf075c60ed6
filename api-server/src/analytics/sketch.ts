/**
 * Counts of durations in buckets whose bounds grow by the same factor (a DDSketch): sketches of days add up to those of weeks, and
 * every percentile read from them is off by less than 1%.
 */
export const GROWTH = 1.0195;

/** How many durations are in each bucket; bucket `n` holds what is over GROWTH^(n-1) and at most GROWTH^n milliseconds. */
export type Sketch = Uint32Array;

/** More than any duration needs: that of the largest safe integer is in bucket 1902. */
const BUCKETS = 2_048;

export const emptySketch = (): Sketch => new Uint32Array(BUCKETS);

const LN_GROWTH = Math.log(GROWTH);

/** The number of the bucket that a duration in milliseconds is in. */
export const bucketOf = (ms: number): number => Math.ceil(Math.log(Math.max(ms, 1)) / LN_GROWTH);

/** All of them together. */
export function mergedSketch(sketches: Iterable<Sketch>): Sketch {
  const merged = emptySketch();
  for (const sketch of sketches)
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) merged[bucket] = (merged[bucket] ?? 0) + (sketch[bucket] ?? 0);
  return merged;
}

const codeOf = (sign: string): number => sign.charCodeAt(0);
const [ZERO, NINE, COLON, COMMA, END] = [codeOf('0'), codeOf('9'), codeOf(':'), codeOf(','), codeOf('}')];

/**
 * Adds what is stored as JSON, `{"bucket":count}`, to several sketches. The numbers are read one by one: a long history has hundreds of
 * thousands of them.
 */
export function addStored(sketches: readonly Sketch[], counts: string): void {
  for (let [at, bucket, number] = [0, 0, 0]; at < counts.length; at += 1) {
    const sign = counts.charCodeAt(at);
    if (sign >= ZERO && sign <= NINE) number = number * 10 + sign - ZERO;
    else if (sign === COLON) [bucket, number] = [number, 0];
    else if (sign === COMMA || sign === END) {
      for (const sketch of sketches) sketch[bucket] = (sketch[bucket] ?? 0) + number;
      number = 0;
    }
  }
}

/** The same text of a sketch. */
export const storedOf = (sketch: Sketch): string =>
  JSON.stringify(Object.fromEntries([...sketch.entries()].filter(([, count]) => count > 0)));

/** Milliseconds that at least 95 of 100 do not exceed; null where nothing was counted. */
export function p95Of(sketch: Sketch): number | null {
  let total = 0;
  for (const count of sketch) total += count;
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
