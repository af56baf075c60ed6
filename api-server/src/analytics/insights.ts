import { type PipelineFacts, type PipelineStats, pipelineStats } from './pipeline-stats.ts';

/** The numbers of all pipelines together, with those of a pipeline. */
export type Figures = Omit<PipelineStats, 'pipeline_name' | 'teams'>;

/** One bucket of a chart; times in milliseconds, clipped to the window. */
export interface Point {
  from: number;
  to: number;
  figures: Figures;
}

/** What the insights page shows. */
export interface Insights {
  now: Figures;
  /** Of the window of the same length before; null where there is none. */
  before: Figures | null;
  /** The oldest first, without gaps. */
  points: Point[];
  pipelines: PipelineStats[];
}

/** Sums of everything in `facts`; its percentiles are of all together. */
export function figuresOf(facts: PipelineFacts, currency: string): Figures {
  const { pipeline_name: _, teams: __, ...figures } = pipelineStats('', currency, facts);
  return figures;
}

export interface Series {
  /** Beginnings of the buckets. */
  buckets: readonly number[];
  bucketMs: number;
  /** The window's bounds. */
  from: number | null;
  now: number;
}

/** The facts of a chart by bucket: sums carry theirs, percentiles and marks are told apart by it. */
export function pointsOf(facts: PipelineFacts, { buckets, bucketMs, from, now }: Series, currency: string): Point[] {
  const by = <T extends { bucket: number }>(items: readonly T[]) => Map.groupBy(items, ({ bucket }) => bucket);
  const ofBucket = <T extends { of: string }>(items: readonly T[]) => Map.groupBy(items, ({ of }) => Number(of));
  const [ended, active, steps] = [by(facts.ended), by(facts.active), by(facts.steps)];
  const [percentiles, marks] = [ofBucket(facts.percentiles), ofBucket(facts.marks)];
  return buckets.map((bucket) => ({
    from: Math.max(bucket, from ?? bucket),
    to: Math.min(bucket + bucketMs, now),
    figures: figuresOf(
      {
        ended: ended.get(bucket) ?? [],
        active: active.get(bucket) ?? [],
        steps: steps.get(bucket) ?? [],
        percentiles: percentiles.get(bucket) ?? [],
        marks: marks.get(bucket) ?? [],
      },
      currency,
    ),
  }));
}
