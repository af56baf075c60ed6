import type { RawResponse, StepExecution } from './model.ts';
import { sizeOfValues } from './size-of-values.ts';

/** Of the answers of one run, in characters: who looks at a run, or goes on with it, reads all of them. */
export const MAX_ANSWERS = 16 * 1024 * 1024;

type Said = Pick<StepExecution, 'output' | 'summary' | 'nextStepContext' | 'artifacts'>;

/** What an answer counts for in the bound of its run: its text and trace, with what their values take. */
export function sizeOfAnswer(raw: RawResponse | null, { output, summary, nextStepContext, artifacts }: Said): number {
  const { prompt: _, promptSpans: __, ...kept } = raw ?? {};
  const held = [kept, output, summary, nextStepContext, artifacts];
  const json = JSON.stringify(held);
  return json.length + sizeOfValues(held, json);
}

const known = new WeakMap<StepExecution, number>();

/** What a stored execution counted for; of one that did not say it yet, what it has now. */
export function chargedOf(step: StepExecution): number {
  const charged = known.get(step) ?? step.rawResponse?.charged ?? charge(step);
  known.set(step, charged);
  return charged;
}

function charge({ kind, rawResponse, ...said }: StepExecution): number {
  // A group repeats what its branches said, and where nothing was said nothing counted.
  if (kind === 'parallel' || kind === 'fan_out' || (rawResponse === null && said.output === null)) return 0;
  const { costs: _, parts: __, loaded: ___, ...raw } = rawResponse ?? {};
  return sizeOfAnswer(raw, said);
}

export const chargedOfAll = (steps: readonly StepExecution[]): number =>
  steps.reduce((sum, step) => sum + chargedOf(step), 0);
