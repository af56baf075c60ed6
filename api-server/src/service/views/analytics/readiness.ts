import { z } from 'zod';
import { tidy } from '../../../analytics/tidy.ts';
import type { ReadinessReport as Report, StepReadiness } from '../../../analytics/readiness/readiness.ts';
import { VERDICTS } from '../../../analytics/readiness/verdict.ts';
import type { ApplyTo } from '../../../analytics/readiness/with-readiness.ts';
import { STAGES } from '../../../runs/state/model.ts';
import type { Preview } from '../../../analytics/readiness/preview.ts';
import { component, NullableNumber, NullableText, Time, viewOf } from '../answer.ts';
import { Criteria, criteriaView, TIERS_EXAMPLE, tiersView, TiersView } from './readiness-tiers.ts';

const Verdict = z.enum(VERDICTS);
export type ReadinessVerdict = z.infer<typeof Verdict>;

const Evidence = z.strictObject({
  runs_total: z.number(),
  rows_total: z.number(),
  marked_total: z.number(),
  first_seen_at: Time.nullable(),
  last_seen_at: Time.nullable(),
});
const SEEN = {
  runs_total: 31,
  rows_total: 31,
  marked_total: 9,
  first_seen_at: '2026-10-28T07:02:11.000Z',
  last_seen_at: '2026-11-02T09:14:21.400Z',
};

/** An agent, model, prompt and version that answered; `current` where it counts now. */
const Combo = Evidence.extend({
  agent: NullableText,
  provider: NullableText,
  model: NullableText,
  prompt_hash: NullableText,
  agent_version: NullableText,
  current: z.boolean(),
});

const CurrentConfig = z.strictObject({
  prompt_hash: NullableText,
  agent_version: NullableText,
  agent_version_source: z.enum(['gateway', 'external', 'history']).nullable(),
  prompt_hash_source: z.literal('definition').nullable(),
  /** Whether the newest execution had this prompt; null without one. */
  prompt_hash_matches_history: z.boolean().nullable(),
});

const ReadinessStep = z
  .strictObject({
    step_name: z.string(),
    kind: z.enum(['step', 'branch', 'parallel', 'fan_out']),
    executor: z.string(),
    when: NullableText,
    verdict: Verdict,
    /** Null where the step has no gate. */
    confidence_threshold: NullableNumber,
    /** Null where nothing is asked of the step. */
    criteria: Criteria.nullable(),
    current_config: CurrentConfig,
    evidence: Evidence,
    tiers: TiersView,
    observed_combos: z.array(Combo),
    narrative: z.array(z.string()),
    notes: z.array(z.string()),
  })
  .meta({ id: 'ReadinessStep' });
export type ReadinessStep = z.infer<typeof ReadinessStep>;

/** A readiness evaluation (Orchestration 2.9). */
const Evaluation = z.strictObject({
  pipeline_name: z.string(),
  pipeline_stage: z.enum(STAGES),
  evidence_stage: z.enum(STAGES),
  criteria_source: z.enum(['configured', 'none']),
  verdict: Verdict,
  gathered_at: Time,
  /** Steps by verdict. */
  summary: z.strictObject({
    ready: z.number(),
    not_ready: z.number(),
    building: z.number(),
    no_data: z.number(),
    not_configured: z.number(),
    total: z.number(),
  }),
  steps: z.array(ReadinessStep),
});
export type ReadinessReport = z.infer<typeof Evaluation>;

const EXAMPLE: ReadinessReport = {
  pipeline_name: 'checkout-errors',
  pipeline_stage: 'testing',
  evidence_stage: 'testing',
  criteria_source: 'configured',
  verdict: 'building',
  gathered_at: '2026-11-02T09:20:00.000Z',
  summary: { ready: 0, not_ready: 0, building: 1, no_data: 0, not_configured: 0, total: 1 },
  steps: [
    {
      step_name: 'investigate',
      kind: 'step',
      executor: 'gateway',
      when: null,
      verdict: 'building',
      confidence_threshold: 0.75,
      criteria: {
        operational: {
          min_runs: 20,
          min_success_rate: 0.95,
          max_age_days: null,
          acceptable_statuses: null,
          source: 'pipeline',
          sources: {
            min_runs: 'pipeline',
            min_success_rate: 'default',
            max_age_days: 'default',
            acceptable_statuses: 'default',
          },
        },
        accuracy: {
          min_marked: 20,
          min_accuracy: 0.85,
          min_human_marked: null,
          source: 'step',
          sources: { min_marked: 'step', min_accuracy: 'step', min_human_marked: 'default' },
        },
      },
      current_config: {
        prompt_hash: '9c1be2f04a7d',
        agent_version: '51f0aa2be9c1',
        agent_version_source: 'gateway',
        prompt_hash_source: 'definition',
        prompt_hash_matches_history: true,
      },
      evidence: SEEN,
      tiers: TIERS_EXAMPLE,
      observed_combos: [
        {
          agent: 'sre-triage',
          provider: 'anthropic',
          model: 'claude-haiku',
          prompt_hash: '9c1be2f04a7d',
          agent_version: '51f0aa2be9c1',
          ...SEEN,
          current: true,
        },
      ],
      narrative: ['9 of 20 marked results; 11 more to go.'],
      notes: [],
    },
  ],
};

export const Readiness = component('Readiness', Evaluation, EXAMPLE);

/** The same for criteria that are tried out. */
export const ReadinessPreview = component(
  'ReadinessPreview',
  Evaluation.extend({
    /** Steps that the criteria apply to. */
    applied_to: z.array(z.string()),
    scope: z.enum(['pipeline', 'step']),
    yaml_snippet: z.string(),
    yaml_snippet_indented: z.string(),
    yaml_target_hint: z.string(),
    evidence_gathered_at: Time,
    evidence_cache_hit: z.boolean(),
  }),
  {
    ...EXAMPLE,
    applied_to: ['investigate'],
    scope: 'pipeline',
    yaml_snippet: 'readiness:\n  accuracy:\n    min_marked: 20\n',
    yaml_snippet_indented: 'readiness:\n  accuracy:\n    min_marked: 20\n',
    yaml_target_hint: 'In checkout-errors.yaml, pipeline "checkout-errors": below line 3.',
    evidence_gathered_at: '2026-11-02T09:20:00.000Z',
    evidence_cache_hit: false,
  },
);
export type ReadinessPreview = z.infer<typeof ReadinessPreview>;

export const readinessView = (report: Report): ReadinessReport =>
  tidy(
    viewOf(Evaluation, report, {
      pipeline_name: report.pipeline,
      pipeline_stage: report.stage,
      evidence_stage: report.stage,
      steps: report.steps.map(stepView),
    }),
  );

export const previewView = (preview: Extract<Preview, { kind: 'evaluated' }>, applyTo: ApplyTo): ReadinessPreview =>
  viewOf(ReadinessPreview, preview, {
    ...readinessView(preview.report),
    scope: applyTo === null ? 'pipeline' : 'step',
    yaml_snippet: preview.snippet.yaml,
    yaml_snippet_indented: preview.snippet.indented,
    yaml_target_hint: preview.snippet.hint,
    evidence_cache_hit: preview.cacheHit,
  });

const stepView = ({ step, config, evidence, tiers, combos, ...judged }: StepReadiness): ReadinessStep =>
  viewOf(
    ReadinessStep,
    { ...step, ...judged },
    {
      step_name: step.name,
      confidence_threshold: step.threshold,
      criteria: criteriaView(step.criteria, tiers),
      current_config: viewOf(CurrentConfig, config),
      evidence: viewOf(Evidence, evidence),
      tiers: tiersView(tiers),
      observed_combos: combos.map((combo) => viewOf(Combo, combo)),
    },
  );
