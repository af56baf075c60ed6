import type { Verifier } from '@signalbox/crds';
import type { Compute } from '@signalbox/crds/process/compute';
import { linedJson } from '../state/lined-json.ts';
import type { RawResponse, SecondOpinion } from '../state/model.ts';
import type { PromptRoom } from '../state/prompt-room.ts';
import { noteMissing } from '../prompt/blanks.ts';
import { oneAtATime } from '../prompt/one-at-a-time.ts';
import { MAX_PROMPT_BYTES, shownInPrompt } from '../prompt/prompt.ts';
import { runValues } from '../prompt/run-values.ts';
import { secondOpinion, type Backends } from './second-opinion.ts';
import type { PriceOf } from '../cost/cost.ts';
import type { Answer } from '../state/step-kind.ts';
import type { Begun } from './step-execution.ts';
import { ownerOf, type Templates } from '../prompt/templates.ts';

export interface OpinionDeps {
  backends: Backends;
  priceOf: PriceOf;
  templates: Templates;
  prompts: PromptRoom;
  compute: Pick<Compute, 'validate'>;
  now(): number;
}

/** What a second agent is asked about. */
export interface Subject {
  answer: Answer;
  raw: RawResponse;
  signal: AbortSignal;
}

const VETO_FLOOR = 0.5;

/** What a step's templates and expressions see of its own answer. */
export const answerValues = ({ answer, raw }: Pick<Subject, 'answer' | 'raw'>): Record<string, unknown> => ({
  prompt: raw.prompt ?? null,
  answer: { confidence: answer.confidence, summary: answer.summary, ...answer.output },
  output: answer.output,
  confidence: answer.confidence,
});

/** Asks the verifier where its condition holds; null where it was not asked. */
export async function verify(deps: OpinionDeps, begun: Begun, subject: Subject): Promise<SecondOpinion | null> {
  const { step, run, name } = begun;
  const verifier = 'verifier' in step ? step.verifier : undefined;
  if (!verifier || subject.answer.confidence === null) return null;
  const values = () => runValues(run, deps.now(), { ...begun.locals, ...answerValues(subject) });
  if (!(await holds(deps, begun, verifier, values))) return null;
  const own = { part: 'verifier' as const, template: verifier.prompt_template, values };
  const input = await oneAtATime(run, () => renderOr(deps.templates, begun, own, () => builtIn(verifier, subject)));
  const opinion = await secondOpinion(deps, begun, {
    part: 'verifier',
    executor: verifier.executor,
    agent: verifier.agent,
    model: verifier.model,
    input,
    timeoutMs: verifier.timeout_seconds * 1000,
    signal: subject.signal,
    score: ({ confidence }) => confidence,
  });
  const level = opinion.error === undefined ? 'info' : 'warn';
  const message =
    opinion.error === undefined
      ? `${verifier.agent} is ${show(opinion.score)} sure`
      : `the verifier failed: ${opinion.error}`;
  run.journal.add(level, 'verifier_ran', message, { step_name: name, agent: verifier.agent, score: opinion.score });
  return opinion;
}

/** The verifier's score under its strategy: a number that may lower the confidence, or null where it changes nothing. */
export function verdictOf(verifier: Verifier, score: number | null): number | null {
  if (score === null || verifier.combination_strategy === 'minimum') return score;
  return score < (verifier.veto_floor ?? VETO_FLOOR) ? score : null;
}

async function holds(
  deps: OpinionDeps,
  { run, name }: Begun,
  verifier: Verifier,
  values: OwnPrompt['values'],
): Promise<boolean> {
  if (verifier.when === undefined) return true;
  const result = await deps.templates.evaluate(verifier.when, values(), ownerOf(run));
  if (result.ok) return result.value === true;
  // Evidence that cannot be ruled out is gathered.
  const why = `${result.msg}, in ${verifier.when}`;
  run.journal.add('warn', 'expression_failed', `verifier.when: ${why}; the verifier is asked`, { step_name: name });
  return true;
}

interface OwnPrompt {
  part: 'verifier' | 'grounding';
  template: string | undefined;
  /** Made where they are read: many wait for their turn, and then for a second agent. */
  values(): Record<string, unknown>;
}

/** The author's prompt for a second agent; the built-in one where there is none, or, with an event, where it fails or is too large. */
export async function renderOr(
  templates: Templates,
  begun: Begun,
  { part, template, values }: OwnPrompt,
  builtInPrompt: () => string,
): Promise<string> {
  if (template === undefined) return builtInPrompt();
  const rendered = await templates.render(template, values(), ownerOf(begun.run));
  if (!rendered.ok || Buffer.byteLength(rendered.text) > MAX_PROMPT_BYTES) {
    const why = rendered.ok ? `the rendered prompt is larger than ${MAX_PROMPT_BYTES} bytes` : rendered.msg;
    const message = `${part}.prompt_template: ${why}; the built-in prompt is used`;
    begun.run.journal.add('warn', 'template_failed', message, { step_name: begun.name });
    return builtInPrompt();
  }
  rendered.missing.forEach(noteMissing(`the prompt of ${part}`, begun));
  return rendered.text;
}

/** The answer as a second agent sees it. */
export const shownAnswer = ({ summary, output }: Answer): string => shownInPrompt(linedJson({ summary, ...output }));

function builtIn({ mode }: Verifier, { answer, raw }: Subject): string {
  if (mode === 'independent') return raw.prompt ?? '';
  return `Another agent was given this task:\n\n${raw.prompt ?? ''}\n\nIt answered:\n\n${shownAnswer(answer)}\n\nCheck the answer. Your confidence says how likely it is that the answer is right; your summary names what is wrong or unproven in it.`;
}

const show = (score: number | null): string => (score === null ? 'not' : score.toFixed(2));
