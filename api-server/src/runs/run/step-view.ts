import type { StepView } from '../state/step-results.ts';
import { heldView } from '../state/held.ts';
import type { StepExecution } from '../state/model.ts';

/** What later steps see of a stored execution; a result that a rerun took over counts as what it was. */
export const stepView = (step: StepExecution): StepView =>
  heldView({
    status: step.rawResponse?.loaded?.status ?? step.status,
    summary: step.summary,
    confidence: step.primaryConfidence,
    trust: step.trustReport?.trust ?? null,
    output: step.output ?? {},
    next_step_context: step.nextStepContext ?? null,
  });
