import type { Work } from './work.ts';
import { factsBy, type Figures, figuresOf, type PipelineFacts, type pipelineStats } from './pipeline-stats.ts';

export interface Series {
  /** Beginnings of the buckets. */
  buckets: readonly number[];
  bucketMs: number;
  /** The window's bounds. */
  from: number | null;
  now: number;
}

/** The figures of each bucket of a chart, the oldest first, without gaps; times in milliseconds, clipped to the window. */
export function pointsOf(facts: PipelineFacts, { buckets, bucketMs, from, now }: Series, currency: string) {
  const of = factsBy('bucket', facts);
  return buckets.map((bucket) => ({
    from: Math.max(bucket, from ?? bucket),
    to: Math.min(bucket + bucketMs, now),
    figures: figuresOf(of(bucket), currency),
  }));
}
export type Point = ReturnType<typeof pointsOf>[number];

/** What the insights page shows; `before`: of the window of the same length before, null where there is none. */
export interface Insights {
  now: Figures;
  before: Figures | null;
  points: Point[];
  pipelines: ReturnType<typeof pipelineStats>[];
  agents: Work[];
  models: Work[];
}
