import type { ObservedCombo, ReadinessReport as Report, StepReadiness } from '../../analytics/readiness/readiness.ts';
import { tierWords } from '../../analytics/readiness/words.ts';
import type { ApplyTo } from '../../analytics/readiness/with-readiness.ts';
import type { Preview } from '../readiness/preview.ts';
import type { Tiers } from '../../analytics/readiness/tiers.ts';
import { AnyObject, component, iso, isoOrNull } from './answer.ts';

/** A readiness evaluation as it goes over the wire (Orchestration 2.9). */
export const readinessView = (report: Report) => ({
  pipeline_name: report.pipeline,
  pipeline_stage: report.stage,
  evidence_stage: report.stage,
  criteria_source: report.criteriaSource,
  verdict: report.verdict,
  gathered_at: iso(report.gatheredAt),
  summary: report.summary,
  steps: report.steps.map(stepView),
});

/** The same for criteria that are tried out. */
export const previewView = (preview: Extract<Preview, { kind: 'evaluated' }>, applyTo: ApplyTo) => ({
  ...readinessView(preview.report),
  applied_to: preview.appliedTo,
  scope: applyTo === null ? 'pipeline' : 'step',
  yaml_snippet: preview.snippet.yaml,
  yaml_snippet_indented: preview.snippet.indented,
  yaml_target_hint: preview.snippet.hint,
  evidence_gathered_at: iso(preview.evidenceGatheredAt),
  evidence_cache_hit: preview.cacheHit,
});

const stepView = ({ step, config, evidence, ...rest }: StepReadiness) => ({
  step_name: step.name,
  kind: step.kind,
  executor: step.executor,
  when: step.when,
  verdict: rest.verdict,
  confidence_threshold: step.threshold,
  criteria: Object.keys(step.criteria).length === 0 ? null : step.criteria,
  current_config: {
    prompt_hash: config.promptHash,
    agent_version: config.agentVersion,
    agent_version_source: config.agentVersionSource,
    prompt_hash_source: config.promptHashSource,
    prompt_hash_matches_history: config.promptHashMatchesHistory,
  },
  evidence: {
    runs_total: evidence.runs,
    rows_total: evidence.rows,
    marked_total: evidence.marked,
    first_seen_at: isoOrNull(evidence.firstSeenAt),
    last_seen_at: isoOrNull(evidence.lastSeenAt),
  },
  tiers: tiersView(rest.tiers),
  observed_combos: rest.combos.map(comboView),
  narrative: rest.narrative,
  notes: rest.notes,
});

const tiersView = (tiers: Tiers) => ({
  operational: {
    verdict: tiers.operational.verdict,
    reason: tierWords('operational', tiers),
    runs: tiers.operational.runs,
    min_runs: tiers.operational.minRuns,
    executions: tiers.operational.executions,
    failed: tiers.operational.failed,
    success_rate: tiers.operational.successRate,
    min_success_rate: tiers.operational.minSuccessRate,
  },
  confidence: {
    verdict: tiers.confidence.verdict,
    reason: tierWords('confidence', tiers),
    answers: tiers.confidence.answers,
    min_runs: tiers.confidence.minRuns,
    passed: tiers.confidence.passed,
    pass_rate: tiers.confidence.passRate,
    min_pass_rate: tiers.confidence.minPassRate,
    mean_confidence: tiers.confidence.meanConfidence,
  },
  accuracy: {
    verdict: tiers.accuracy.verdict,
    reason: tierWords('accuracy', tiers),
    marked: tiers.accuracy.marked,
    min_marked: tiers.accuracy.minMarked,
    correct: tiers.accuracy.correct,
    partial: tiers.accuracy.partial,
    incorrect: tiers.accuracy.incorrect,
    accuracy: tiers.accuracy.accuracy,
    min_accuracy: tiers.accuracy.minAccuracy,
  },
  calibration: calibrationView(tiers),
});

function calibrationView(tiers: Tiers) {
  const { calibration } = tiers;
  return {
    verdict: calibration.verdict,
    reason: tierWords('calibration', tiers),
    marked: calibration.labelled,
    n_min: calibration.nMin,
    validated_bins: calibration.validatedBins,
    fullest_bin: calibration.fullestBin,
    coverage: calibration.coverage,
    min_coverage: calibration.minCoverage,
    worst_gap: calibration.worstGap,
    max_gap: calibration.maxGap,
    bins: calibration.bins.map(({ lo, hi, n, meanLabel, validated }) => ({
      lo,
      hi,
      n,
      mean_label: meanLabel,
      validated,
    })),
  };
}

const comboView = (combo: ObservedCombo) => ({
  agent: combo.agent,
  provider: combo.provider,
  model: combo.model,
  prompt_hash: combo.promptHash,
  agent_version: combo.agentVersion,
  runs_total: combo.runs,
  rows_total: combo.executions,
  marked_total: combo.marked,
  first_seen_at: isoOrNull(combo.firstSeenAt),
  last_seen_at: isoOrNull(combo.lastSeenAt),
  current: combo.current,
});

export const Readiness = component('Readiness', AnyObject, { pipeline_name: 'checkout-errors', verdict: 'building' });
export const ReadinessPreview = component('ReadinessPreview', AnyObject, { pipeline_name: 'checkout-errors' });
export type ReadinessReport = ReturnType<typeof readinessView>;
export type ReadinessStep = ReturnType<typeof stepView>;
export type ReadinessPreview = ReturnType<typeof previewView>;
export type ReadinessVerdict = ReadinessReport['verdict'];
