import { createRest } from '@signalbox/crds/process/rest';
import type { StepView } from '../state/step-results.ts';
import { chargedOf } from '../state/charged.ts';
import { heldView } from '../state/held.ts';
import type { StepExecution } from '../state/model.ts';

const ahead = new WeakMap<StepExecution, StepView>();

/** What later steps see of a stored execution; a result that a rerun took over counts as what it was. */
export const stepView = (step: StepExecution, small?: number): StepView =>
  ahead.get(step) ??
  heldView(
    {
      status: step.rawResponse?.loaded?.status ?? step.status,
      summary: step.summary,
      confidence: step.primaryConfidence,
      trust: step.trustReport?.trust ?? null,
      output: step.output ?? {},
      next_step_context: step.nextStepContext ?? null,
    },
    small,
  );

/** Makes its view, and counts it, before a run begins with it: thousands in one turn of the event loop would hold it. */
export function viewedAhead(step: StepExecution): StepExecution {
  ahead.set(step, stepView(step));
  chargedOf(step);
  return step;
}

/** The same for all that a rerun takes over. */
export async function viewAhead(steps: readonly StepExecution[]): Promise<void> {
  const rest = createRest();
  for (const step of steps) {
    viewedAhead(step);
    await rest();
  }
}
