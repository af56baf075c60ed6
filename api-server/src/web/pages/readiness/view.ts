import type { Pipeline } from '@signalbox/crds';
import { ago, exactTime } from '../format.ts';
import type { TriedReadiness } from './tried.ts';
import type { ReadinessReport, ReadinessStep } from '../../../service/views/analytics/readiness.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { TIERS, type Tier } from './knobs.ts';
import { verdictLook } from './look.ts';
import { type WhatIf, whatIfForm } from './what-if.ts';

export interface ReadinessInput {
  name: string;
  config: Pick<Pipeline, 'readiness'>;
  report: ReadinessReport;
  whatIf: WhatIf | null;
  tried: TriedReadiness | null;
  now: number;
}

/** Readiness on the page of a pipeline: a matrix of steps and tiers, what is missing, and a form to try other criteria. */
export function readinessCard({ name, config, report: real, whatIf, tried, now }: ReadinessInput) {
  const report = tried?.kind === 'tried' ? tried.report : real;
  const isPreview = tried?.kind === 'tried';
  const steps = shownSteps(report.steps);
  return {
    isPreview,
    isAsked: report.criteria_source === 'configured',
    look: verdictLook(report.verdict),
    lead: lead(report),
    evidence: `Evidence of ${report.pipeline_stage} runs, gathered ${ago(report.gathered_at, now)}`,
    gathered: exactTime(report.gathered_at),
    columns: TIERS.map(({ title, question }) => ({ title, question })),
    rows: steps.map(row),
    left: steps.length < report.steps.length ? plural(report.steps.length - steps.length, 'step') : null,
    explanations: steps
      .filter(({ verdict }) => verdict !== 'not_configured')
      .map((step) => explanation(step, steps.filter(isHeldBack).length)),
    preview: tried?.kind === 'tried' ? snippet(tried.report, real) : null,
    problems: tried?.kind === 'invalid' ? tried.problems : [],
    form: whatIfForm(config, real.steps, whatIf),
    action: `${paths.pipeline(name)}#readiness`,
    back: `${paths.pipeline(name)}#readiness`,
    example: EXAMPLE,
  };
}

/** Steps that a page shows. */
const MOST_STEPS = 20;
const SATISFIED: ReadonlySet<string> = new Set(['ready', 'not_configured']);

/** In their order; where there are too many, those that hold the pipeline back go before others. */
function shownSteps(steps: readonly ReadinessStep[]): ReadinessStep[] {
  const held = steps.filter(({ verdict }) => !SATISFIED.has(verdict));
  const chosen = new Set([...held, ...steps.filter(({ verdict }) => SATISFIED.has(verdict))].slice(0, MOST_STEPS));
  return steps.filter((step) => chosen.has(step));
}

const EXAMPLE = `readiness:
  operational:
    min_runs: 20
  accuracy:
    min_marked: 20
    min_accuracy: 0.85`;

const NO_DATA = 'No step has run with its present prompt and agent version';
const NEXT = 'What ran before a change does not count: run the pipeline, or wait for its next alerts.';

function lead({ summary, verdict, pipeline_stage: stage }: ReadinessReport): string {
  const asked = summary.total - summary.not_configured;
  const steps = `${summary.ready} of ${plural(asked, 'step')} ready`;
  if (verdict === 'not_configured') return 'This pipeline has no readiness criteria yet.';
  if (verdict === 'no_data') return `${steps}. ${NO_DATA} at stage ${stage}. ${NEXT}`;
  if (verdict !== 'ready') return `${steps}.`;
  return stage === 'testing' ? `${steps}: it is ready for production.` : `${steps}: it meets its criteria.`;
}

function row(step: ReadinessStep) {
  return {
    name: step.step_name,
    shape: SHAPES[step.kind] ?? step.executor,
    isBranch: step.kind === 'branch',
    look: verdictLook(step.verdict),
    cells: TIERS.map(({ tier, title }) => cell(step, tier, title)),
  };
}

const SHAPES: Partial<Record<ReadinessStep['kind'], string>> = { parallel: 'group', fan_out: 'fan-out' };

function cell({ tiers }: ReadinessStep, tier: Tier, title: string) {
  const { verdict, reason } = tiers[tier];
  const isSilent = verdict === 'not_configured' || verdict === 'no_data';
  return { title, look: verdictLook(verdict), reason, figure: isSilent ? '' : FIGURES[tier](tiers) };
}

const whole = (share: number): number => Math.floor(share * 100 + 1e-6);
const percent = (share: number | null): string => (share === null ? '–' : `${whole(share)}%`);

/** The figure of a tier in its cell of the matrix. */
const FIGURES: Record<Tier, (tiers: ReadinessStep['tiers']) => string> = {
  operational: ({ operational: { verdict, runs, min_runs: needed, success_rate: rate } }) =>
    verdict === 'building' ? `${runs} of ${needed} runs` : `${percent(rate)} went well`,
  confidence: ({ confidence: { verdict, answers, min_runs: needed, pass_rate: rate } }) =>
    verdict === 'building' ? `${answers} of ${needed} answers` : `${percent(rate)} pass`,
  accuracy: ({ accuracy: { verdict, marked, min_marked: needed, accuracy, ...human } }) => {
    if (verdict !== 'building') return `${percent(accuracy)} right`;
    if (marked < (needed ?? 0)) return `${marked} of ${needed} marked`;
    return `${human.human_marked} of ${human.min_human_marked} by a person`;
  },
  calibration: ({ calibration: { verdict, coverage, worst_gap: gap, fullest_bin: fullest, n_min: needed } }) => {
    if (verdict === 'building')
      return gap === null ? `${fullest} of ${needed} in a bin` : `${percent(coverage)} measured`;
    return gap === null || gap <= 0 ? 'never too sure' : `${plural(whole(gap), 'point')} too sure`;
  },
};

/** Where more steps are held back, all stay folded: the matrix above has the figure of each. */
const MOST_OPEN = 5;

const isHeldBack = ({ verdict }: ReadinessStep): boolean => verdict === 'not_ready' || verdict === 'building';

const explanation = (step: ReadinessStep, held: number) => ({
  name: step.step_name,
  look: verdictLook(step.verdict),
  open: isHeldBack(step) && held <= MOST_OPEN,
  sentences: step.narrative,
  // Notes are on the numbers, of which there are none.
  notes: step.verdict === 'no_data' ? [] : step.notes,
});

function snippet(tried: Extract<TriedReadiness, { kind: 'tried' }>['report'], real: ReadinessReport) {
  const before = verdictLook(real.verdict).word.toLowerCase();
  const after = verdictLook(tried.verdict).word.toLowerCase();
  return {
    title: `With these criteria: ${after}`,
    change: before === after ? 'The verdict stays the same.' : `Today it is ${before}.`,
    yaml: tried.yaml_snippet_indented.replace(/\n$/, ''),
    hint: tried.yaml_target_hint,
  };
}
