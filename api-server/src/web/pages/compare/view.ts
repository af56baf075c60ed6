import type { Comparison, StepComparison } from '../../../service/views/comparison.ts';
import type { RunLine } from '../../../service/views/run.ts';
import type { StepDetail } from '../../../service/views/step.ts';
import { type Budget, createBudget } from '../diff/budget.ts';
import { age, exactTime, secondsBetween } from '../format.ts';
import { paths } from '../paths.ts';
import { runTitle } from '../runs/row.ts';
import { isActive, statusLook, stepLook } from '../status.ts';
import { type Fact, known, moneyIn, numberFact, SECONDS, textFact, TOKENS, TRUST, type Unit } from './facts.ts';
import { answerSection, promptSection } from './sections.ts';

const ROOM = { bytes: 300_000, ms: 150 };
const MOST_STEPS = 60;
const COLUMNS = { a: 'A', b: 'B' };

export interface CompareInput {
  comparison: Comparison;
  /** The only step whose texts are asked for; null for all. */
  step: string | null;
  force: boolean;
  now: number;
  currency: string;
}

/** Two runs side by side: what they are, what they cost, and every step with what differs. */
export function compareView(input: CompareInput) {
  const { comparison, step, force } = input;
  const [a, b] = comparison.runs;
  const budget = createBudget(ROOM);
  const found = comparison.steps.filter(({ step_name }) => step === null || step_name === step);
  const shown = found.slice(0, MOST_STEPS);
  return {
    title: a.pipeline_name === b.pipeline_name ? a.pipeline_name : `${a.pipeline_name} and ${b.pipeline_name}`,
    runs: paths.runs(),
    swap: paths.compare(b.id, a.id, { force, step }),
    heads: [head('A', a, input), head('B', b, input)],
    columns: COLUMNS,
    facts: runFacts(comparison, input),
    all: step === null ? null : paths.compare(a.id, b.id, { force }),
    steps: shown.map((one) => stepView(one, { ...input, budget })),
    none: shown.length === 0 ? 'Neither run has started a step yet.' : null,
    more:
      found.length > shown.length
        ? `The first ${MOST_STEPS} of ${found.length} steps. GET /runs/${a.id}/compare/${b.id} has all of them.`
        : null,
  };
}

const head = (letter: 'A' | 'B', run: RunLine, { now }: CompareInput) => ({
  letter,
  href: paths.run(run.id),
  id: `…${run.id.slice(-8)}`,
  summary: runTitle(run),
  status: statusLook(run.status, run.waiting_on),
  since: run.triggered_at,
  exact: exactTime(run.triggered_at),
  age: age(run.triggered_at, now),
});

const lasted = (run: RunLine, now: number): number | null =>
  secondsBetween(run.triggered_at, run.completed_at ?? (isActive(run.status) ? now : null));

function runFacts({ runs: [a, b] }: Comparison, { now, currency }: CompareInput): Fact[] {
  return known([
    textFact('Status', statusLook(a.status, a.waiting_on).word, statusLook(b.status, b.waiting_on).word),
    textFact('Stage', a.stage, b.stage),
    textFact('Severity', a.severity, b.severity),
    numberFact('Trust', [a.trust, b.trust], TRUST),
    numberFact('Input tokens', [a.input_tokens, b.input_tokens], TOKENS),
    numberFact('Output tokens', [a.output_tokens, b.output_tokens], TOKENS),
    numberFact('Cost', [a.cost, b.cost], moneyIn(currency)),
    numberFact('Duration', [lasted(a, now), lasted(b, now)], SECONDS),
    textFact('Mark', a.feedback_outcome, b.feedback_outcome),
  ]);
}

function stepFacts({ a, b }: StepComparison, currency: string): Fact[] {
  const text = (label: string, of: (step: StepDetail) => string | null | undefined) =>
    textFact(label, a && of(a), b && of(b));
  const number = (label: string, of: (step: StepDetail) => number | null, unit: Unit) =>
    numberFact(label, [a && of(a), b && of(b)], unit);
  return known([
    text('Agent', (step) => step.agent),
    text('Model', (step) => step.model),
    text('Prompt version', (step) => step.prompt_hash),
    text('Agent version', (step) => step.agent_version),
    number('Trust', (step) => step.trust_report?.trust ?? step.effective_confidence, TRUST),
    number('Input tokens', (step) => step.input_tokens, TOKENS),
    number('Output tokens', (step) => step.output_tokens, TOKENS),
    number('Cost', (step) => step.cost, moneyIn(currency)),
    // A result that a rerun took over took no time in it.
    number('Duration', (step) => (step.raw_response?.loaded === undefined ? step.duration_seconds : null), SECONDS),
    text('Error', (step) => step.error?.message),
    text('Mark', (step) => step.feedback?.outcome),
  ]);
}

type StepInput = CompareInput & { budget: Budget };

function stepView(pair: StepComparison, input: StepInput) {
  const { a, b, step_name: name } = pair;
  const [runA, runB] = input.comparison.runs;
  const differences = differencesOf(pair);
  const facts = stepFacts(pair, input.currency);
  const fits = facts.every((fact) => input.budget.take(Object.values(fact).join('')));
  const open = fits && (input.step !== null || differences.length > 0);
  return {
    name,
    a: a === null ? null : { look: stepLook(a), href: paths.run(runA.id, { step: name }) },
    b: b === null ? null : { look: stepLook(b), href: paths.run(runB.id, { step: name }) },
    differences: differences.length === 0 ? 'same answer' : differences.join(' · '),
    same: differences.length === 0,
    open,
    columns: COLUMNS,
    facts: fits ? facts : [],
    prompt: fits ? promptSection(pair, input.budget) : null,
    output: fits ? answerSection(pair, input.budget) : null,
    alone: fits ? null : paths.compare(runA.id, runB.id, { force: input.force, step: name }),
  };
}

/** In words, for the line that folds the rest of a step away. */
function differencesOf({ a, b, same_prompt, same_agent_version, output_diff }: StepComparison): string[] {
  if (a === null) return ['only in B'];
  if (b === null) return ['only in A'];
  return [
    a.status === b.status ? null : 'other status',
    a.model === b.model ? null : 'other model',
    same_prompt === false ? 'other prompt version' : null,
    same_agent_version === false ? 'other agent version' : null,
    output_diff === '' || output_diff === null ? null : 'other answer',
  ].filter((difference) => difference !== null);
}
