import type { StepExecution } from './model.ts';

type Ended = Pick<StepExecution, 'stepIndex' | 'completedAt'>;

const endOf = ({ completedAt }: Ended): number => completedAt ?? Number.MAX_SAFE_INTEGER;

/** Executions of a run as they ended: entries one after the other, and their branches at times of their own, those that have not ended last. */
export const byEnd = (one: Ended, other: Ended): number => one.stepIndex - other.stepIndex || endOf(one) - endOf(other);
