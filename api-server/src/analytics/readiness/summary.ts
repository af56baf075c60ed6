import type { ReadinessReport, StepReadiness } from './readiness.ts';
import { TIERS } from './steps.ts';
import { tierWords } from './words.ts';
import type { Verdict } from './verdict.ts';

const MAX_CHARS = 300;

/** Why a pipeline has its verdict, in one sentence that fits into a condition of an object. */
export function verdictReason(report: ReadinessReport): string {
  const { verdict, summary, steps, stage } = report;
  const text = {
    ready: () => `the evidence at stage ${stage} meets every criterion`,
    not_ready: () => ofSteps(steps, ['not_ready']),
    building: () => ofSteps(steps, ['building', 'no_data']),
    no_data: () => `no step has run at stage ${stage} with its present prompt and agent version`,
    not_configured: () => `none of ${summary.total} steps has readiness criteria`,
  }[verdict]();
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`;
}

/** The first step that holds the others back, in full, and how many more there are. */
function ofSteps(steps: readonly StepReadiness[], verdicts: readonly Verdict[]): string {
  const held = steps.filter(({ verdict }) => verdicts.includes(verdict));
  const [first] = held;
  if (!first) return '';
  const tier = TIERS.find((one) => verdicts.includes(first.tiers[one].verdict));
  const words = tier ? `${tier}: ${tierWords(tier, first.tiers)}` : 'no evidence yet.';
  const more = held.length === 1 ? '' : ` ${held.length - 1} more of ${steps.length} steps`;
  return `step ${first.step.name}, ${words}${more}`.replace(/\.$/, '');
}
