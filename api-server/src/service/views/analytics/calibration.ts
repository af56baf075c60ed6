import { z } from 'zod';
import type { Bucket } from '../../../analytics/calibration.ts';
import { component, NullableNumber, NullableText, viewOf } from '../answer.ts';

export type { CalibrationRule } from '../../../analytics/calibration.ts';

/** What marks say of one range of confidences; `hi` belongs to the next bin, but for the last one. */
export const BinView = z
  .strictObject({
    lo: z.number(),
    hi: z.number(),
    n: z.number(),
    /** 0..1; null where `n` is 0, as `mean_confidence` is. */
    mean_label: NullableNumber,
    mean_confidence: NullableNumber,
    validated: z.boolean(),
  })
  .meta({ id: 'CalibrationBin' });
export type BinView = z.infer<typeof BinView>;

const ONE = {
  agent: 'sre-triage',
  provider: 'anthropic',
  model: 'claude-haiku',
  prompt_hash: '9c1be2f04a7d',
  agent_version: '51f0aa2be9c1',
  total_n: 48,
  pipelines: ['checkout-errors'],
  bins: [{ lo: 0.9, hi: 1, n: 48, mean_label: 0.71, mean_confidence: 0.94, validated: true }],
  recommendation: 'Runs that score about 0.94 are only 71% correct',
};

/** A calibration bucket (Orchestration 2.9). */
export const BucketView = component(
  'CalibrationBucket',
  z.strictObject({
    agent: NullableText,
    provider: NullableText,
    model: NullableText,
    prompt_hash: NullableText,
    agent_version: NullableText,
    total_n: z.number(),
    /** The pipelines whose marked executions are counted together. */
    pipelines: z.array(z.string()),
    /** Always 1/bin_width of them. */
    bins: z.array(BinView),
    recommendation: NullableText,
  }),
  ONE,
);
export type BucketView = z.infer<typeof BucketView>;

export const StepCalibration = component(
  'StepCalibration',
  z.strictObject({ step_name: z.string(), buckets: z.array(BucketView) }),
  { step_name: 'investigate', buckets: [ONE] },
);

export const bucketView = (bucket: Bucket): BucketView =>
  viewOf(BucketView, bucket, { bins: bucket.bins.map((bin) => viewOf(BinView, bin)) });

/** How far a bin's answers promise more than they hold. */
const OVERCONFIDENT = 0.1;
export const isOverconfident = ({ mean_confidence: said, mean_label: held }: BinView): boolean =>
  (said ?? 0) - (held ?? 0) > OVERCONFIDENT;
