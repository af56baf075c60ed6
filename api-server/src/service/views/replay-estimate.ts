import { tidy } from '../../analytics/tidy.ts';
import { z } from 'zod';
import type { Estimate } from '../../analytics/replay/estimate.ts';
import { component, NullableNumber, NullableText, viewOf } from './answer.ts';

const Costs = {
  /** Null where no price or no recorded use is known. */
  total: NullableNumber,
  per_sample: NullableNumber,
  mean_input_tokens: NullableNumber,
  mean_output_tokens: NullableNumber,
  /** Where the price is from: `manual`, `live_exact` or `live_cross_provider`. */
  tier: NullableText,
  /** Recorded calls that the means are of. */
  basis_n: z.number(),
  reason: NullableText,
};

const JudgeEstimate = z.strictObject({ ...Costs, eligible_count: z.number() }).meta({ id: 'ReplayJudgeEstimate' });

const EXAMPLE = {
  total: 0.08,
  per_sample: 0.004,
  mean_input_tokens: 900,
  mean_output_tokens: 80,
  tier: 'manual',
  basis_n: 20,
  reason: 'price of claude-sonnet at anthropic, for the mean of 20 recorded calls',
};

/** What a launch would cost (Orchestration 2.10). */
export const ReplayEstimate = component(
  'ReplayEstimate',
  z.strictObject({
    ...Costs,
    sample_count: z.number(),
    /** Null where no judge is configured. */
    judge: JudgeEstimate.nullable(),
    /** Null where one of the two is unknown. */
    combined_total: NullableNumber,
  }),
  { ...EXAMPLE, sample_count: 20, judge: null, combined_total: null },
);
export type ReplayEstimate = z.infer<typeof ReplayEstimate>;

interface Estimated {
  sampleCount: number;
  candidate: Estimate;
  judge: (Estimate & { eligible: number }) | null;
}

export const replayEstimate = ({ sampleCount, candidate, judge }: Estimated): ReplayEstimate =>
  viewOf(
    ReplayEstimate,
    { ...candidate, sampleCount },
    {
      judge: judge && viewOf(JudgeEstimate, { ...judge, eligibleCount: judge.eligible }),
      combined_total: candidate.total === null || judge?.total == null ? null : candidate.total + judge.total,
    },
  );

/** What a launch of a range of steps would cost: every step is asked once for each recorded run. */
export const ReplayChainEstimate = component(
  'ReplayChainEstimate',
  z.strictObject({
    /** Null where the cost of one step is unknown. */
    total: NullableNumber,
    /** Recorded runs. */
    sample_count: z.number(),
    steps: z.array(z.strictObject({ step_name: z.string(), ...Costs }).meta({ id: 'ReplayStepEstimate' })),
  }),
  { total: 0.08, sample_count: 20, steps: [{ step_name: 'investigate', ...EXAMPLE }] },
);
export type ReplayChainEstimate = z.infer<typeof ReplayChainEstimate>;

export function replayChainEstimate(
  sampleCount: number,
  steps: readonly (Estimate & { stepName: string })[],
): ReplayChainEstimate {
  const known = steps.flatMap(({ total }) => total ?? []);
  return {
    total: known.length === steps.length ? tidy(known.reduce((sum, total) => sum + total, 0)) : null,
    sample_count: sampleCount,
    steps: steps.map((step) => viewOf(ReplayChainEstimate.shape.steps.element, step)),
  };
}
