import { sql } from 'kysely';
import type { Outcome } from '../../../runs/state/model.ts';

/**
 * The outcome of an execution, null where it is unknown: a person's mark of the step, else a failed check, else the mark of
 * the run (Orchestration 3). For rows of `step_executions` beside the marks of the step and of the run.
 */
export const OUTCOME = sql<Outcome | null>`coalesce(step_feedback.outcome,
  case when step_executions.deterministic_passed = 0 then 'incorrect' end, run_feedback.outcome)`;

/** Where the outcome of an execution comes from: its own mark, a failed check, the mark of its run (Orchestration 3). */
export const LABEL_SOURCES = ['human', 'deterministic', 'run'] as const;
export type LabelSource = (typeof LABEL_SOURCES)[number];

/** For the same rows; null where there is no outcome. */
export const LABEL_SOURCE = sql<LabelSource | null>`case when step_feedback.outcome is not null then 'human'
  when step_executions.deterministic_passed = 0 then 'deterministic' when run_feedback.outcome is not null then 'run' end`;
