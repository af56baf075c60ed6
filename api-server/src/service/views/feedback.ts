import { z } from 'zod';
import { OUTCOMES } from '../../runs/state/model.ts';
import type { RunFeedback as RunMark, StepFeedback as StepMark } from '../../store/tables/feedback.ts';
import { component, NullableText, Time, viewOf } from './answer.ts';

const MarkShape = z.strictObject({
  run_id: z.string(),
  outcome: z.enum(OUTCOMES),
  notes: NullableText,
  submitted_at: Time,
  /** The name of a token. */
  submitted_by: z.string(),
});

const EXAMPLE = {
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  outcome: 'correct',
  notes: 'The pool was too small.',
  submitted_at: '2026-11-02T09:30:00.000Z',
  submitted_by: 'on-call',
} as const;

/** A mark of a whole run (Orchestration 2.3). */
export const RunFeedback = component('RunFeedback', MarkShape, EXAMPLE);
export type RunFeedback = z.infer<typeof RunFeedback>;

/** A mark of one step execution (Orchestration 2.3). */
export const StepFeedback = component('StepFeedback', MarkShape.extend({ step_name: z.string() }), {
  ...EXAMPLE,
  step_name: 'investigate',
});
export type StepFeedback = z.infer<typeof StepFeedback>;

export const RunFeedbackLookup = component('RunFeedbackLookup', z.strictObject({ feedback: RunFeedback.nullable() }), {
  feedback: EXAMPLE,
});
export const StepFeedbackLookup = component(
  'StepFeedbackLookup',
  z.strictObject({ feedback: StepFeedback.nullable() }),
  { feedback: null },
);

export const runFeedbackView = (mark: RunMark): RunFeedback => viewOf(RunFeedback, mark);
export const stepFeedbackView = (mark: StepMark): StepFeedback => viewOf(StepFeedback, mark);

/** What pages show of a mark. */
export type Mark = Pick<RunFeedback, 'outcome' | 'notes' | 'submitted_at' | 'submitted_by'>;
