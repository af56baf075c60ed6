import { type Bin, calibrate, gapOf, type Labelled } from '../calibration.ts';
import { LABEL_OF, meanOf } from '../accuracy.ts';
import { countSince, marked, POINTS, type Seen, type Tally } from './evidence.ts';
import type { Outcome } from './executions.ts';
import type { Criteria } from './steps.ts';
import { judge, reaches, type Verdict } from './verdict.ts';

/** Numbers of a tier as far as they are known; those that are asked for are null where nothing is. */
export interface OperationalTier {
  verdict: Verdict;
  runs: number;
  minRuns: number | null;
  executions: number;
  failed: number;
  successRate: number | null;
  minSuccessRate: number | null;
  maxAgeDays: number | null;
  acceptableStatuses: string[] | null;
}

export interface ConfidenceTier {
  verdict: Verdict;
  answers: number;
  minRuns: number | null;
  passed: number;
  passRate: number | null;
  minPassRate: number | null;
  meanConfidence: number | null;
}

export interface AccuracyTier {
  verdict: Verdict;
  marked: number;
  minMarked: number | null;
  /** Of them by a person, on the step itself. */
  humanMarked: number;
  minHumanMarked: number | null;
  correct: number;
  partial: number;
  incorrect: number;
  accuracy: number | null;
  minAccuracy: number | null;
}

export interface CalibrationTier {
  verdict: Verdict;
  marked: number;
  nMin: number | null;
  /** Who says it: the request, the definition, or else the service. */
  nMinFrom: 'query' | 'definition' | 'service';
  validatedBins: number;
  /** Marked results of the fullest bin. */
  fullestBin: number;
  coverage: number | null;
  minCoverage: number | null;
  /** Of the validated bin that promises most too much, which is `worstBin`. */
  worstGap: number | null;
  worstBin: Bin | null;
  maxGap: number | null;
  bins: Bin[];
}

export interface Tiers {
  operational: OperationalTier;
  confidence: ConfidenceTier;
  accuracy: AccuracyTier;
  calibration: CalibrationTier;
}

export interface BinRule {
  binWidth: number;
  /** Overrides the criteria; null without an override. */
  nMin: number | null;
  /** Where criteria say nothing. */
  defaultNMin: number;
}

const share = (part: number, of: number): number | null => (of === 0 ? null : part / of);

/** The four tiers, each judged from its own numbers alone (Orchestration 2.9); `at`: when the evidence was gathered. */
export const judgeTiers = (tally: Tally, criteria: Criteria, { rule, at }: { rule: BinRule; at: number }): Tiers => ({
  operational: operational(tally, criteria.operational, at),
  confidence: confidence(tally, criteria.confidence),
  accuracy: accuracy(tally, criteria.accuracy),
  calibration: calibration(tally, criteria.calibration, rule),
});

interface Asked {
  /** Of the tier's own kind of evidence. */
  needs: number | null;
  share: number | null;
}

/** A tier that wants some evidence and a share of it. */
const judgeShare = (rows: number, seen: { has: number; share: number | null }, asked: Asked): Verdict =>
  asked.needs === null
    ? 'not_configured'
    : judge(rows, { has: seen.has, needs: asked.needs, holds: reaches(seen.share ?? 0, asked.share ?? 0) });

const DAY_MS = 86_400_000;

function operational(tally: Tally, asked: Criteria['operational'], at: number): OperationalTier {
  const { min_runs: minRuns = null, min_success_rate: minSuccessRate = null } = asked ?? {};
  const { max_age_days: maxAgeDays = null, acceptable_statuses: acceptableStatuses = null } = asked ?? {};
  const since = maxAgeDays === null ? -Infinity : at - maxAgeDays * DAY_MS;
  const isBad = ({ kind: { status }, failed }: Seen) =>
    acceptableStatuses === null ? failed : !acceptableStatuses.some((one) => one === status);
  const { rows, runs } = countSince(tally.seen, since);
  const { rows: failed } = countSince(tally.seen.filter(isBad), since);
  const successRate = share(rows - failed, rows);
  const verdict = judgeShare(rows, { has: runs, share: successRate }, { needs: minRuns, share: minSuccessRate });
  return {
    verdict,
    runs,
    minRuns,
    executions: rows,
    failed,
    successRate,
    minSuccessRate,
    maxAgeDays,
    acceptableStatuses,
  };
}

function confidence({ rows, answers, passed, confidenceSum }: Tally, asked: Criteria['confidence']): ConfidenceTier {
  const { min_runs: minRuns = null, min_pass_rate: minPassRate = null } = asked ?? {};
  const passRate = share(passed, answers);
  const verdict = judgeShare(rows, { has: answers, share: passRate }, { needs: minRuns, share: minPassRate });
  const meanConfidence = share(confidenceSum, answers * POINTS);
  return { verdict, answers, minRuns, passed, passRate, minPassRate, meanConfidence };
}

function accuracy(tally: Tally, asked: Criteria['accuracy']): AccuracyTier {
  const { min_marked: minMarked = null, min_accuracy: minAccuracy = null } = asked ?? {};
  const { min_human_marked: minHumanMarked = null } = asked ?? {};
  const n = marked(tally);
  const humanMarked = n - tally.fromChecks - tally.fromRuns;
  const mean = meanOf(tally.marks);
  const isEnough = n >= (minMarked ?? 0) && humanMarked >= (minHumanMarked ?? 0);
  const needs = asked ? 1 : null;
  const verdict = judgeShare(tally.rows, { has: Number(isEnough), share: mean }, { needs, share: minAccuracy });
  return {
    verdict,
    marked: n,
    minMarked,
    humanMarked,
    minHumanMarked,
    ...tally.marks,
    accuracy: mean,
    minAccuracy,
  };
}

function calibration(tally: Tally, asked: Criteria['calibration'], rule: BinRule): CalibrationTier {
  const nMin = rule.nMin ?? asked?.n_min ?? rule.defaultNMin;
  const written = asked?.n_min === undefined ? 'service' : 'definition';
  const bins = binsOf(tally, nMin, rule.binWidth);
  const validated = bins.filter((bin) => bin.validated);
  const worstBin = validated.toSorted((a, b) => gapOf(b) - gapOf(a))[0] ?? null;
  const worstGap = worstBin && gapOf(worstBin);
  const coverage = share(coveredBy(tally, validated), tally.answers);
  return {
    ...(asked ? judgedBins(tally.rows, { worstGap, coverage, nMin, ...asked }) : NOTHING_ASKED),
    nMinFrom: rule.nMin === null ? written : 'query',
    marked: bins.reduce((sum, { n }) => sum + n, 0),
    validatedBins: validated.length,
    fullestBin: Math.max(0, ...bins.map(({ n }) => n)),
    coverage,
    worstGap,
    worstBin,
    bins,
  };
}

const NOTHING_ASKED = { verdict: 'not_configured', nMin: null, minCoverage: null, maxGap: null } as const;

interface Measured {
  /** Null without a validated bin. */
  worstGap: number | null;
  coverage: number | null;
  nMin: number;
  max_gap: number;
  min_coverage: number;
}

/** Too little of what it says is measured yet, unless what is measured is bad already. */
function judgedBins(rows: number, { worstGap, coverage, nMin, ...asked }: Measured) {
  const { max_gap: maxGap, min_coverage: minCoverage } = asked;
  const isBad = worstGap !== null && worstGap > maxGap + 1e-6;
  const isMeasured = worstGap !== null && reaches(coverage ?? 0, minCoverage);
  const verdict = judge(rows, { has: Number(isBad || isMeasured), needs: 1, holds: !isBad });
  return { verdict, nMin, minCoverage, maxGap };
}

const POOLED = { agent: null, provider: null, model: null, promptHash: null, agentVersion: null };

/** Everything in scope is one bucket: the models of one agent version are taken together. */
function binsOf({ points }: Tally, nMin: number, binWidth: number): Bin[] {
  const rows = [...points].flatMap(([key, { labels }]) =>
    Object.entries(labels).map(([outcome, n]): Labelled => ({
      ...POOLED,
      confidence: key / POINTS,
      label: LABEL_OF[outcome as Outcome],
      n,
    })),
  );
  // A row that counts nothing makes the bucket that an empty list would not have.
  const nothing: Labelled = { ...POOLED, confidence: 0, label: 0, n: 0 };
  return calibrate([nothing, ...rows], { nMin, binWidth })[0]?.bins ?? [];
}

const coveredBy = ({ points }: Tally, bins: readonly Bin[]): number =>
  [...points].reduce((sum, [key, { answers }]) => sum + (bins.some((bin) => isIn(bin, key / POINTS)) ? answers : 0), 0);
const isIn = ({ lo, hi }: Bin, confidence: number): boolean =>
  confidence >= lo - 1e-9 && (confidence < hi - 1e-9 || hi >= 1);
