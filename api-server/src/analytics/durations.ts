import { addTo, emptySketch, p95Of } from './sketch.ts';

/** Durations in milliseconds of which the 95th percentile is asked, by nearest rank. */
export interface Durations {
  add(ms: number): void;
  /** The smallest that at least 95 of 100 do not exceed; null without any. */
  p95(): number | null;
}

export function exactDurations(): Durations {
  const all: number[] = [];
  return {
    add: (ms) => void all.push(ms),
    p95: () => Float64Array.from(all).sort()[Math.floor((all.length * 95 + 99) / 100) - 1] ?? null,
  };
}

/** Within 1%, in the same space however many there are. */
export function sketchedDurations(): Durations {
  const sketch = emptySketch();
  return { add: (ms) => addTo(sketch, ms), p95: () => p95Of(sketch) };
}
