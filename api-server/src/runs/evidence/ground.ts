import { findText, type Grounding } from '@signalbox/crds';
import type { SecondOpinion } from '../state/model.ts';
import { runValues } from '../prompt/run-values.ts';
import { oneAtATime } from '../prompt/one-at-a-time.ts';
import { secondOpinion } from './second-opinion.ts';
import type { Begun } from './step-execution.ts';
import { answerValues, renderOr, shownAnswer, type OpinionDeps, type Subject } from './verify.ts';

/** What the judge must answer beside the contract. */
const SCORE_SCHEMA = {
  properties: {
    score: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'share of the statements that the material supports',
    },
  },
  required: ['score'],
};

/** Longest material shown to the judge, in characters. */
const MATERIAL_CHARS = 60_000;
/** Tools that the evidence names. */
const MOST_TOOLS = 20;

/** Asks the judge how far the answer is supported by what the step saw; null where the step has none. */
export async function ground(deps: OpinionDeps, begun: Begun, subject: Subject): Promise<SecondOpinion | null> {
  const { step, run, name } = begun;
  const grounding = 'grounding' in step ? step.grounding : undefined;
  if (!grounding) return null;
  const { input, sources } = await oneAtATime(run, () => question(deps, begun, grounding, subject));
  const said = await secondOpinion(deps, begun, {
    part: 'grounding',
    executor: grounding.executor,
    agent: grounding.agent,
    model: grounding.model,
    input,
    schema: SCORE_SCHEMA,
    timeoutMs: grounding.timeout_seconds * 1000,
    signal: subject.signal,
    score: ({ output }) => (typeof output['score'] === 'number' ? output['score'] : null),
  });
  const opinion: SecondOpinion = { ...said, sources };
  const level = opinion.error === undefined ? 'info' : 'warn';
  const message =
    opinion.error === undefined
      ? `grounding score ${opinion.score?.toFixed(2) ?? 'none'}`
      : `the grounding judge failed: ${opinion.error}`;
  run.journal.add(level, 'grounding_ran', message, { step_name: name, agent: grounding.agent, score: opinion.score });
  return opinion;
}

/** What the judge is asked, and what of it the judge could compare the answer with. */
async function question(deps: OpinionDeps, begun: Begun, { prompt_template: template }: Grounding, subject: Subject) {
  const material = materialOf(subject);
  const values = () => runValues(begun.run, deps.now(), { ...begun.locals, ...answerValues(subject), material });
  const own = { part: 'grounding' as const, template, values };
  const input = await renderOr(deps.templates, begun, own, () => builtIn(subject, material));
  return { input, sources: sourcesOf(subject, findText(input, material) === -1 ? null : material) };
}

/** Characters of a name as evidence has it: an agent of another backend makes it up. */
const NAME_CHARS = 360;

/** An agent of another backend may put anything there, also what makes no text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A tool of a trace as it is named to people. */
export const toolName = ({ server, tool }: { server?: unknown; tool?: unknown }): string =>
  `${textOf(server)}/${textOf(tool)}`.slice(0, NAME_CHARS);

const toolResults = ({ trace = [] }: Subject['raw']): Record<string, unknown>[] =>
  (trace as Record<string, unknown>[]).filter(({ type }) => type === 'tool_call');

/** The prompt and every tool result: what the answer may rest on. */
function materialOf({ raw }: Subject): string {
  const results = toolResults(raw).map(
    ({ server, tool, result }) => `${textOf(server)}/${textOf(tool)}: ${textOf(result)}`,
  );
  return [raw.prompt ?? '', ...results].join('\n\n').slice(0, MATERIAL_CHARS);
}

/** What the judge could compare the answer with; null: its own prompt shows other things. */
function sourcesOf({ raw }: Subject, material: string | null): string[] {
  if (material === null) return ['what its own prompt_template shows'];
  const counts = new Map<string, number>();
  for (const { server, tool } of toolResults(raw)) {
    const name = toolName({ server, tool });
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const tools = [...counts].map(([name, count]) => `${count} ${count === 1 ? 'result' : 'results'} of ${name}`);
  const cut = material.length === MATERIAL_CHARS ? [`of all that the first ${MATERIAL_CHARS} characters`] : [];
  return ['the prompt', ...tools.slice(0, MOST_TOOLS), ...cut];
}

function builtIn({ answer }: Subject, material: string): string {
  return `This is all that an agent saw:\n\n${material}\n\nIt answered:\n\n${shownAnswer(answer)}\n\nGo through the statements of the answer. Your score is the share of them that the material supports: 1 when all are, 0 when none is.`;
}
