import type { RunDetail } from '../../../../service/views/run.ts';
import type { StepDetail } from '../../../../service/views/step.ts';

/** A step as the page of its run shows it; `waits`: it has asked a person and has no answer yet. */
export interface ShownStep extends StepDetail {
  waits?: true;
}

export interface ShownRun extends RunDetail {
  steps: ShownStep[];
}
