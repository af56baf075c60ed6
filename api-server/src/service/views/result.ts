import { z } from 'zod';
import type { RunResult as StoredResult } from '../../runs/state/result.ts';
import { component, NullableNumber } from './answer.ts';

export const RESULT = {
  step_name: 'investigate',
  conclusion: 'The 14:02 deploy of checkout lowered the timeout of the payment client.',
  actions: [{ name: 'action', value: 'restart' }],
  trust: 0.86,
  threshold: 0.75,
};

/** What a run concluded and proposes: of its last step that proposes an action, else of the last one whose agent answered. */
export const RunResult = component(
  'RunResult',
  z.strictObject({
    step_name: z.string(),
    /** The summary of the answer, at most 300 characters. */
    conclusion: z.string(),
    /**
     * Outputs of the step, at most three: first those that propose an action, because `output_schema` titles them so or they are called
     * `action`, `recommendation`, `next_step` and the like, then what `output_schema` requires.
     */
    actions: z.array(z.strictObject({ name: z.string(), value: z.string() })),
    /** Of the gate of that step. */
    trust: NullableNumber,
    threshold: NullableNumber,
  }),
  RESULT,
);
export type RunResult = z.infer<typeof RunResult>;

export const resultView = ({ stepName, ...rest }: StoredResult): RunResult => ({ step_name: stepName, ...rest });
