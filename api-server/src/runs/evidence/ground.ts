import type { SecondOpinion } from '../state/model.ts';
import { runValues } from '../prompt/run-values.ts';
import { secondOpinion } from './second-opinion.ts';
import type { Begun } from './step-execution.ts';
import { answerValues, renderOr, type OpinionDeps, type Subject } from './verify.ts';

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

/** Asks the judge how far the answer is supported by what the step saw; null where the step has none. */
export async function ground(deps: OpinionDeps, begun: Begun, subject: Subject): Promise<SecondOpinion | null> {
  const { step, run, name } = begun;
  const grounding = 'grounding' in step ? step.grounding : undefined;
  if (!grounding) return null;
  const material = materialOf(subject);
  const values = runValues(run, deps.now(), { ...begun.locals, ...answerValues(subject), material });
  const own = { part: 'grounding' as const, template: grounding.prompt_template, values };
  const opinion = await secondOpinion(deps, begun, {
    part: 'grounding',
    executor: grounding.executor,
    agent: grounding.agent,
    model: grounding.model,
    input: await renderOr(deps.templates, begun, own, builtIn(subject, material)),
    schema: SCORE_SCHEMA,
    timeoutMs: grounding.timeout_seconds * 1000,
    signal: subject.signal,
    score: ({ output }) => (typeof output['score'] === 'number' ? output['score'] : null),
  });
  const level = opinion.error === undefined ? 'info' : 'warn';
  const message =
    opinion.error === undefined
      ? `grounding score ${opinion.score?.toFixed(2) ?? 'none'}`
      : `the grounding judge failed: ${opinion.error}`;
  run.journal.add(level, 'grounding_ran', message, { step_name: name, agent: grounding.agent, score: opinion.score });
  return opinion;
}

/** The prompt and every tool result: what the answer may rest on. */
function materialOf({ raw }: Subject): string {
  const results = (raw.trace ?? []).flatMap((entry) => {
    const { type, server, tool, result } = entry as Record<string, unknown>;
    return type === 'tool_call' ? [`${String(server)}/${String(tool)}: ${String(result)}`] : [];
  });
  return [raw.prompt ?? '', ...results].join('\n\n').slice(0, MATERIAL_CHARS);
}

function builtIn({ answer }: Subject, material: string): string {
  const said = JSON.stringify({ summary: answer.summary, ...answer.output }, null, 2);
  return `This is all that an agent saw:\n\n${material}\n\nIt answered:\n\n${said}\n\nGo through the statements of the answer. Your score is the share of them that the material supports: 1 when all are, 0 when none is.`;
}
