import type { Scoped, CurrentConfig } from './scope.ts';
import type { ReadinessStep, Tier } from './steps.ts';
import type { AccuracyTier, CalibrationTier, ConfidenceTier, OperationalTier, Tiers } from './tiers.ts';
import type { Verdict } from './verdict.ts';

/** Rounded down, so that a share that is just too small never reads like one that is enough. */
export const percent = (share: number | null): string => `${hundredths(share)}%`;
/** The difference of two shares. */
const points = (gap: number | null): string => many(hundredths(gap), 'point');
const hundredths = (share: number | null): number => Math.floor((share ?? 0) * 1000 + 1e-6) / 10;
const many = (n: number | null, one: string): string => `${n ?? 0} ${n === 1 ? one : `${one}s`}`;
const missing = (has: number, needs: number | null): string => `${(needs ?? 0) - has} more to go`;

/** How many good ones in a row would lift a share to what is needed; null where no number would. */
function neededToReach(sum: number, n: number, share: number): number | null {
  if (share >= 1) return null;
  return Math.max(1, Math.ceil((share * n - sum) / (1 - share) - 1e-6));
}

const NOTHING = 'no evidence yet.';

function operationalWords(tier: OperationalTier): string {
  const { runs, minRuns, executions, failed, successRate, minSuccessRate, maxAgeDays } = tier;
  const recent = maxAgeDays === null ? '' : ` in the last ${many(maxAgeDays, 'day')}`;
  const failures = `${failed === 0 ? 'none failed' : `${failed} of ${many(executions, 'execution')} failed`}${recent}`;
  if (tier.verdict === 'building')
    return `${runs} of ${many(minRuns, 'run')}; ${missing(runs, minRuns)}. So far ${failures}.`;
  const needed = `${percent(successRate)} went well, ${percent(minSuccessRate)} needed`;
  if (tier.verdict === 'ready') return `${many(runs, 'run')}, ${failures}: ${needed}.`;
  return `${failures}: ${needed}. ${lift(executions - failed, executions, { needed: minSuccessRate, what: 'good execution' })}`;
}

function confidenceWords(tier: ConfidenceTier): string {
  const { answers, minRuns, passed, passRate, minPassRate } = tier;
  if (tier.verdict === 'building')
    return `${answers} of ${many(minRuns, 'answer')} with a confidence; ${missing(answers, minRuns)}.`;
  const measured = `${passed} of ${many(answers, 'answer')} reached the threshold: ${percent(passRate)}, ${percent(minPassRate)} needed.`;
  if (tier.verdict === 'ready') return measured;
  return `${measured} ${lift(passed, answers, { needed: minPassRate, what: 'sure answer' })}`;
}

function accuracyWords(tier: AccuracyTier): string {
  const { marked, minMarked, humanMarked, minHumanMarked, correct, partial, incorrect, accuracy, minAccuracy } = tier;
  if (tier.verdict === 'building')
    return marked < (minMarked ?? 0)
      ? `${marked} of ${many(minMarked, 'marked result')}; ${missing(marked, minMarked)}.`
      : `${humanMarked} of ${many(minHumanMarked, 'result')} marked by a person; ${missing(humanMarked, minHumanMarked)}.`;
  const measured = `${percent(accuracy)} right in ${many(marked, 'marked result')} (${correct} correct, ${partial} partial, ${incorrect} incorrect), ${percent(minAccuracy)} needed.`;
  if (tier.verdict === 'ready') return measured;
  return `${measured} ${lift(correct + partial / 2, marked, { needed: minAccuracy, what: 'correct mark' })}`;
}

function lift(sum: number, n: number, { needed, what }: { needed: number | null; what: string }): string {
  const more = neededToReach(sum, n, needed ?? 0);
  if (more === null) return 'Only another prompt or agent version, which starts with new evidence, can reach that.';
  return `${many(more, what)} in a row would reach it.`;
}

function calibrationWords(tier: CalibrationTier): string {
  const { worstBin, worstGap, maxGap, nMin, fullestBin, validatedBins, coverage, minCoverage } = tier;
  if (tier.verdict === 'not_ready' && worstBin)
    return `answers that claim ${percent(worstBin.meanConfidence)} are right in ${percent(worstBin.meanLabel)} of ${many(worstBin.n, 'marked result')}: ${points(worstGap)} too sure, at most ${hundredths(maxGap)} allowed.`;
  if (validatedBins === 0)
    return `no range of confidence has ${many(nMin, 'marked result')} yet; the fullest has ${fullestBin}, ${missing(fullestBin, nMin)}.`;
  const measured = `${percent(coverage)} of the answers lie in a range of confidence with ${many(nMin, 'marked result')}, ${percent(minCoverage)} needed`;
  if (tier.verdict === 'building') return `${measured}; mark answers of other confidence.`;
  const fine = (worstGap ?? 0) <= 0 ? 'never too sure' : `at most ${points(worstGap)} too sure`;
  return `${fine}, ${points(maxGap)} allowed; ${measured}.`;
}

const TITLES: Record<Tier, string> = {
  operational: 'Operational',
  confidence: 'Confidence',
  accuracy: 'Accuracy',
  calibration: 'Calibration',
};

/** What a tier says in a sentence, beginning in lower case. */
export function tierWords(tier: Tier, tiers: Tiers): string {
  const { verdict } = tiers[tier];
  if (verdict === 'not_configured') return 'nothing is asked.';
  if (verdict === 'no_data') return NOTHING;
  const words = {
    operational: () => operationalWords(tiers.operational),
    confidence: () => confidenceWords(tiers.confidence),
    accuracy: () => accuracyWords(tiers.accuracy),
    calibration: () => calibrationWords(tiers.calibration),
  };
  return words[tier]();
}

const WORD: Record<Verdict, string> = {
  ready: 'ready',
  not_ready: 'not ready',
  building: 'not enough yet',
  no_data: 'no evidence',
  not_configured: 'nothing asked',
};

interface Told {
  step: ReadinessStep;
  stage: string;
  verdict: Verdict;
  tiers: Tiers;
  older: number;
}

/** Sentences for a person who has a minute: what holds the step back, and how much is missing. */
export function narrative({ step, stage, verdict, tiers, older }: Told): string[] {
  if (verdict === 'not_configured') return [nothingAsked(step)];
  if (verdict === 'no_data') return [noData(step, stage, older)];
  const asked = Object.keys(step.criteria) as Tier[];
  return asked.map((tier) => `${TITLES[tier]}: ${WORD[tiers[tier].verdict]}; ${tierWords(tier, tiers)}`);
}

function nothingAsked({ leftOut, exempt }: ReadinessStep): string {
  if (leftOut.length > 0) return 'Nothing that is asked applies to a step like this.';
  return exempt.length > 0 ? 'This step is exempt: nothing is asked of it.' : 'Nothing is asked of this step.';
}

function noData({ when, agent }: ReadinessStep, stage: string, older: number): string {
  const edition = agent === null ? 'No run' : 'No run with the present prompt and agent version';
  const before = older > 0 ? `; ${many(older, 'execution')} of earlier ones no longer count` : '';
  const condition = when === null ? '' : `; the step runs only when ${when}`;
  return `${edition} has reached this step at stage ${stage}${before}${condition}.`;
}

interface Noted extends Scoped {
  step: ReadinessStep;
  config: CurrentConfig;
}

/** What one should know of the numbers before trusting them. */
export function notes({ step, config, current, older, models }: Noted): string[] {
  const said: [boolean, string][] = [
    [
      older > 0,
      `${many(older, 'execution')} of an earlier prompt or agent version ${older === 1 ? 'is' : 'are'} left out.`,
    ],
    [config.promptHashMatchesHistory === false, 'The newest execution had another prompt than the definition has now.'],
    [
      config.agentVersionSource === 'history',
      'The backend does not say which version of the agent is in force; that of the newest execution is taken.',
    ],
    [models > 1, `${many(models, 'model')} answered; their results are taken together.`],
    [
      current.fromChecks > 0,
      `${many(current.fromChecks, 'label')} ${current.fromChecks === 1 ? 'comes' : 'come'} from failed checks; a passed check gives none.`,
    ],
    [
      current.fromRuns > 0,
      `${many(current.fromRuns, 'label')} ${current.fromRuns === 1 ? 'is the mark of a whole run' : 'are marks of whole runs'}, not of this step.`,
    ],
    [step.exempt.length > 0, `Exempt from ${step.exempt.join(' and ')}.`],
    [
      step.leftOut.length > 0,
      `${capital(step.leftOut.join(' and '))} cannot be judged of a step of executor ${step.executor} and ${step.leftOut.length === 1 ? 'is' : 'are'} left out.`,
    ],
  ];
  return said.filter(([holds]) => holds).map(([, sentence]) => sentence);
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
