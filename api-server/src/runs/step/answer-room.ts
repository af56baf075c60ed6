import { valuesIn } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { failure } from '../state/executor.ts';
import type { CallFacts, Performed } from '../state/step-kind.ts';

/** Of the answers of one run, in characters: who looks at a run, or goes on with it, reads all of them. */
const MAX_SIZE = 16 * 1024 * 1024;
/** What each value takes beside its text. */
const VALUE_SIZE = 16;

const TOO_MUCH = failure('output_invalid', 'the answers of this run take more than 16 MiB together');

/** An answer for which its run has no room left is none: nothing of it is kept but what it used. */
export function withinRoom({ answers }: Pick<ActiveRun, 'answers'>, performed: Performed): Performed {
  const { facts, request } = performed;
  const { prompt: _, promptSpans: __, ...raw } = facts?.raw ?? {};
  const { output, summary, nextStepContext } = {
    output: null,
    summary: null,
    nextStepContext: null,
    ...performed.answer,
  };
  const json = JSON.stringify([raw, output, summary, nextStepContext]);
  answers.size += json.length + VALUE_SIZE * valuesIn(json);
  if (answers.size <= MAX_SIZE) return performed;
  return { ...TOO_MUCH, ...(facts && { facts: lean(facts) }), ...(request && { request }) };
}

function lean(facts: CallFacts): CallFacts {
  const { prompt, promptSpans, iterations, toolCalls, childRunId } = facts.raw;
  return { ...facts, raw: { prompt, promptSpans, iterations, toolCalls, childRunId } };
}
