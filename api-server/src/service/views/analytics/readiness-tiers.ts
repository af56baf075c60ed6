import { z } from 'zod';
import type { Criteria as Asked, Tier } from '../../../analytics/readiness/steps.ts';
import type { Tiers } from '../../../analytics/readiness/tiers.ts';
import { VERDICTS } from '../../../analytics/readiness/verdict.ts';
import { tierWords } from '../../../analytics/readiness/words.ts';
import { NullableNumber, viewOf } from '../answer.ts';
import { BinView } from './calibration.ts';

const source = z.enum(['pipeline', 'group', 'step']);
const Statuses = z.array(z.string()).nullable();

/** `query`: a parameter of the request; `service`: the configuration of the service; `default`: written nowhere. */
const KnobSource = z.enum(['pipeline', 'group', 'step', 'default', 'service', 'query']);

function criteria<T extends Record<string, z.ZodType>>(knobs: T) {
  const sources = Object.fromEntries(Object.keys(knobs).map((key) => [key, KnobSource])) as Record<
    keyof T,
    typeof KnobSource
  >;
  return z.strictObject({ ...knobs, source, sources: z.strictObject(sources) }).optional();
}

/**
 * What is asked of a step, with every knob: a default where nothing is written, null without one. The nearest definition of a tier wins
 * as a whole, and is its `source`; `sources` says it of each knob.
 */
export const Criteria = z.strictObject({
  operational: criteria({
    min_runs: z.number(),
    min_success_rate: z.number(),
    max_age_days: NullableNumber,
    acceptable_statuses: Statuses,
  }),
  confidence: criteria({ min_runs: z.number(), min_pass_rate: z.number() }),
  accuracy: criteria({ min_accuracy: z.number(), min_marked: z.number(), min_human_marked: NullableNumber }),
  calibration: criteria({ n_min: z.number(), max_gap: z.number(), min_coverage: z.number() }),
});

const Judged = { verdict: z.enum(VERDICTS), reason: z.string() };

const OperationalTier = z.strictObject({
  ...Judged,
  runs: z.number(),
  min_runs: NullableNumber,
  executions: z.number(),
  failed: z.number(),
  success_rate: NullableNumber,
  min_success_rate: NullableNumber,
  max_age_days: NullableNumber,
  acceptable_statuses: Statuses,
});

const ConfidenceTier = z.strictObject({
  ...Judged,
  answers: z.number(),
  min_runs: NullableNumber,
  passed: z.number(),
  pass_rate: NullableNumber,
  min_pass_rate: NullableNumber,
  mean_confidence: NullableNumber,
});

const AccuracyTier = z.strictObject({
  ...Judged,
  marked: z.number(),
  min_marked: NullableNumber,
  /** Of them by a person, on the step itself. */
  human_marked: z.number(),
  min_human_marked: NullableNumber,
  correct: z.number(),
  partial: z.number(),
  incorrect: z.number(),
  accuracy: NullableNumber,
  min_accuracy: NullableNumber,
});

const TierBin = BinView.omit({ mean_confidence: true });

const CalibrationTier = z.strictObject({
  ...Judged,
  marked: z.number(),
  n_min: NullableNumber,
  validated_bins: z.number(),
  /** Marked results of the fullest bin. */
  fullest_bin: z.number(),
  coverage: NullableNumber,
  min_coverage: NullableNumber,
  worst_gap: NullableNumber,
  max_gap: NullableNumber,
  bins: z.array(TierBin),
});

export const TiersView = z.strictObject({
  operational: OperationalTier,
  confidence: ConfidenceTier,
  accuracy: AccuracyTier,
  calibration: CalibrationTier,
});
type TiersView = z.infer<typeof TiersView>;

export const TIERS_EXAMPLE: TiersView = {
  operational: {
    verdict: 'ready',
    reason: '31 runs, none failed.',
    runs: 31,
    min_runs: 20,
    executions: 31,
    failed: 0,
    success_rate: 1,
    min_success_rate: 0.95,
    max_age_days: null,
    acceptable_statuses: null,
  },
  confidence: {
    verdict: 'not_configured',
    reason: 'Nothing is asked.',
    answers: 31,
    min_runs: null,
    passed: 28,
    pass_rate: 0.903,
    min_pass_rate: null,
    mean_confidence: 0.84,
  },
  accuracy: {
    verdict: 'building',
    reason: '9 of 20 marked results; 11 more to go.',
    marked: 9,
    min_marked: 20,
    human_marked: 9,
    min_human_marked: null,
    correct: 7,
    partial: 1,
    incorrect: 1,
    accuracy: 0.833,
    min_accuracy: 0.85,
  },
  calibration: {
    verdict: 'not_configured',
    reason: 'Nothing is asked.',
    marked: 9,
    n_min: null,
    validated_bins: 0,
    fullest_bin: 6,
    coverage: 0,
    min_coverage: null,
    worst_gap: null,
    max_gap: null,
    bins: [{ lo: 0.9, hi: 1, n: 6, mean_label: 0.83, validated: false }],
  },
};

/** The knobs of each tier that is asked; those of calibration as they are in force. */
export function criteriaView(criteria: Asked, { calibration }: Tiers): z.infer<typeof Criteria> | null {
  const { operational, confidence, accuracy, calibration: bins } = criteria;
  const nMinSource = calibration.nMinFrom === 'definition' ? undefined : calibration.nMinFrom;
  const asked = {
    ...(operational && { operational: withSources({ max_age_days: null, acceptable_statuses: null, ...operational }) }),
    ...(confidence && { confidence: withSources(confidence) }),
    ...(accuracy && { accuracy: withSources({ min_human_marked: null, ...accuracy }) }),
    ...(bins && { calibration: withSources({ ...bins, n_min: calibration.nMin ?? 0 }, { n_min: nMinSource }) }),
  };
  return Object.keys(asked).length === 0 ? null : asked;
}

type Written = { source: z.infer<typeof source>; written: readonly string[] };
type KnobSource = z.infer<typeof KnobSource>;

function withSources<T extends Written>({ written, ...knobs }: T, known: Record<string, KnobSource | undefined> = {}) {
  const { source: from, ...named } = knobs;
  const sources = Object.fromEntries(
    Object.keys(named).map((key) => [key, known[key] ?? (written.includes(key) ? from : 'default')]),
  ) as Record<Exclude<keyof T, 'source' | 'written'>, KnobSource>;
  return { ...knobs, sources };
}

export const tiersView = (tiers: Tiers): TiersView => {
  const reason = (tier: Tier) => ({ reason: tierWords(tier, tiers) });
  const bins = tiers.calibration.bins.map((bin) => viewOf(TierBin, bin));
  return {
    operational: viewOf(OperationalTier, tiers.operational, reason('operational')),
    confidence: viewOf(ConfidenceTier, tiers.confidence, reason('confidence')),
    accuracy: viewOf(AccuracyTier, tiers.accuracy, reason('accuracy')),
    calibration: viewOf(CalibrationTier, tiers.calibration, { ...reason('calibration'), bins }),
  };
};
