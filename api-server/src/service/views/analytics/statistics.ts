import { z } from 'zod';
import { component, NullableNumber, NullableText } from '../answer.ts';

export type { Insights, Point } from '../../../analytics/insights.ts';
export type { Figures } from '../../../analytics/pipeline-stats.ts';
export type { TrendDay } from '../../../analytics/trend.ts';

/** Numbers by status, those that occur. */
const StatusCounts = z.record(z.string(), z.number());
const Tokens = z.strictObject({ input: z.number(), output: z.number(), total: z.number() }).meta({ id: 'Tokens' });
/** Null where nothing was priced (Orchestration 2.10). */
const Cost = z
  .strictObject({
    total: NullableNumber,
    unpriced_steps: z.number(),
    currency: z.string(),
    by_source: z.strictObject({
      manual: NullableNumber,
      live_exact: NullableNumber,
      live_cross_provider: NullableNumber,
    }),
  })
  .meta({ id: 'Cost' });
const Accuracy = z
  .strictObject({
    /** What is labelled: runs in figures of pipelines and totals, executions in figures of steps and models. */
    counts: z.enum(['runs', 'executions']),
    correct: z.number(),
    partial: z.number(),
    incorrect: z.number(),
    total: z.number(),
    /** Labels that are entirely correct, 0..100; null without labels. */
    correct_pct: NullableNumber,
    /** The accuracy: the mean of the labels, of which a partial one counts half, 0..1; null without labels. */
    mean_label: NullableNumber,
  })
  .meta({ id: 'Accuracy' });

const Figures = z.strictObject({
  /** With those that have not ended: the sum of `status_counts`. */
  runs_total: z.number(),
  status_counts: StatusCounts,
  /** 0..1; null where none ended with a verdict. */
  success_rate: NullableNumber,
  tokens: Tokens,
  cost: Cost,
  duration_seconds: z.strictObject({
    avg: NullableNumber,
    p95: NullableNumber,
    /** Without the time in which a run waited for people. */
    machine_p95: NullableNumber,
    /** How long the runs waited that asked people; null where none did. */
    waiting_p95: NullableNumber,
  }),
  accuracy: Accuracy,
});
const TeamStatistics = z.strictObject({
  /** Null for runs without one. */
  team: NullableText,
  runs_total: z.number(),
  tokens: Tokens,
  cost: Cost,
});

const TOKENS = { input: 40_210, output: 3_980, total: 44_190 };
const COST = {
  total: 0.132,
  unpriced_steps: 0,
  currency: 'USD',
  by_source: { manual: null, live_exact: 0.132, live_cross_provider: null },
};
const LABELS = { correct: 7, partial: 1, incorrect: 1, total: 9, correct_pct: 77.8, mean_label: 0.833 };
const EXECUTIONS = { counts: 'executions' as const, ...LABELS };
const ACCURACY = { counts: 'runs' as const, ...LABELS };
const FIGURES = {
  runs_total: 12,
  status_counts: { completed: 11, failed: 1 },
  success_rate: 0.917,
  tokens: TOKENS,
  cost: COST,
  duration_seconds: { avg: 18.2, p95: 31.5, machine_p95: 31.5, waiting_p95: null },
  accuracy: ACCURACY,
};
const PIPELINE = {
  pipeline_name: 'checkout-errors',
  ...FIGURES,
  teams: [{ team: 'payments', runs_total: 12, tokens: TOKENS, cost: COST }],
};

/** The pipeline stats object (Orchestration 2.9). */
export const PipelineStatistics = component(
  'PipelineStatistics',
  Figures.extend({ pipeline_name: z.string(), teams: z.array(TeamStatistics) }),
  PIPELINE,
);
export type PipelineStatistics = z.infer<typeof PipelineStatistics>;

export const PipelineStatisticsList = component(
  'PipelineStatisticsList',
  z.strictObject({ pipelines: z.array(PipelineStatistics) }),
  { pipelines: [PIPELINE] },
);

/** Means of the executions that reported tokens; null without any. */
const MeanTokens = { avg_input_tokens: NullableNumber, avg_output_tokens: NullableNumber };
const MEAN_TOKENS = { avg_input_tokens: 3_351, avg_output_tokens: 332 };

/** The step stats object (Orchestration 2.9). */
export const StepStatistics = component(
  'StepStatistics',
  Figures.extend({
    step_name: z.string(),
    duration_seconds: z.strictObject({ avg: NullableNumber, p95: NullableNumber }),
    ...MeanTokens,
    /** How much comes from each pipeline, the busiest first: steps of one name need not be alike. */
    pipelines: z.array(
      z.strictObject({
        pipeline_name: z.string(),
        runs_total: z.number(),
        success_rate: NullableNumber,
        accuracy: Accuracy,
      }),
    ),
  }),
  {
    step_name: 'investigate',
    ...FIGURES,
    duration_seconds: { avg: 18.2, p95: 31.5 },
    accuracy: EXECUTIONS,
    ...MEAN_TOKENS,
    pipelines: [{ pipeline_name: 'checkout-errors', runs_total: 12, success_rate: 0.917, accuracy: EXECUTIONS }],
  },
);
export type StepStatistics = z.infer<typeof StepStatistics>;

/** A row of the step model breakdown (Orchestration 2.9); names are null for executors that have none. */
const ModelStatistics = z.strictObject({
  agent: NullableText,
  provider: NullableText,
  model: NullableText,
  runs_total: z.number(),
  status_counts: StatusCounts,
  success_rate: NullableNumber,
  ...MeanTokens,
  avg_duration_seconds: NullableNumber,
  accuracy: Accuracy,
});
export type ModelStatistics = z.infer<typeof ModelStatistics>;

export const StepModels = component(
  'StepModels',
  z.strictObject({ step_name: z.string(), breakdown: z.array(ModelStatistics) }),
  {
    step_name: 'investigate',
    breakdown: [
      {
        agent: 'sre-triage',
        provider: 'anthropic',
        model: 'claude-haiku',
        runs_total: 12,
        status_counts: { completed: 11, failed: 1 },
        success_rate: 0.917,
        ...MEAN_TOKENS,
        avg_duration_seconds: 18.2,
        accuracy: EXECUTIONS,
      },
    ],
  },
);

/** What teams used in a calendar month in UTC. */
export const TeamsUse = component(
  'TeamsUse',
  z.strictObject({
    month: z.string(),
    currency: z.string(),
    teams: z.array(
      z.strictObject({
        /** Null for runs without one. */
        team: NullableText,
        runs: z.number(),
        /** Null where nothing was priced. */
        cost: NullableNumber,
        unpriced_steps: z.number(),
        input_tokens: z.number(),
        output_tokens: z.number(),
        /** Null without one. */
        budget: NullableNumber,
        budget_used_ratio: NullableNumber,
      }),
    ),
  }),
  {
    month: '2026-11',
    currency: 'USD',
    teams: [
      {
        team: 'payments',
        runs: 31,
        cost: 4.2,
        unpriced_steps: 0,
        input_tokens: 40_210,
        output_tokens: 3_980,
        budget: 50,
        budget_used_ratio: 0.084,
      },
    ],
  },
);
export type TeamsUse = z.infer<typeof TeamsUse>;
