import type { ShownStep } from './shown-step.ts';
import { wasAsked } from './said.ts';

/** Why nothing of a step was weighed: a sentence for each way to end without it, from its status, its error and its answer. */
export const UNWEIGHED = {
  waits: 'The step waits for a person; its evidence appears here after the decision.',
  running: 'The step is still running; its evidence appears here when it ends.',
  loaded: 'The result was taken over from the original run; no gate was asked again.',
  skipped: 'The step was skipped, so it left no evidence.',
  noConfidence: 'This step reports no confidence, so it passes no gate and fails none.',
  cancelled: 'The step was cancelled before it was weighed.',
  notAsked: 'The step ended before anything was asked, so there is nothing to weigh.',
  unusable: 'There was an answer that could not be used, so there is no confidence to weigh.',
  noAnswer: 'The step ended without an answer, so there is no confidence to weigh.',
  notKnown: 'It is not known how this step was weighed: nothing is stored of its gate.',
} as const;

export function whyUnweighed(step: ShownStep): keyof typeof UNWEIGHED {
  const { status } = step;
  if (step.waits) return 'waits';
  if (step.raw_response?.loaded !== undefined) return 'loaded';
  if (status === 'running' || status === 'skipped' || status === 'cancelled') return status;
  return step.primary_confidence === null ? whyNoConfidence(step) : 'notKnown';
}

/** Of a step that has ended here. */
function whyNoConfidence(step: ShownStep): keyof typeof UNWEIGHED {
  if (step.error === null) return 'noConfidence';
  if (wasAsked(step) === false) return 'notAsked';
  const { text, http } = step.raw_response ?? {};
  return text === undefined && http === undefined ? 'noAnswer' : 'unusable';
}
