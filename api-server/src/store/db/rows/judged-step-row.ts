import type { Outcome } from '../../../runs/state/model.ts';
import type { StepRow } from './step-row.ts';

/** What stands in the row of the execution, too. */
export const OF_EXECUTION = [
  'family',
  'stage',
  'started_at',
  'run_id',
  'step_name',
  'pipeline_name',
  'team',
  'executor',
  'agent',
  'provider',
  'model',
  'prompt_hash',
  'agent_version',
  'effective_confidence',
] as const satisfies readonly (keyof StepRow)[];

/** An execution that has an outcome, and which. */
export interface JudgedStepRow extends Pick<StepRow, (typeof OF_EXECUTION)[number]> {
  outcome: Outcome;
}
