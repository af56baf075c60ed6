import { RUN_STATUSES, type RunStatus, type StepStatus, type TerminalRunStatus } from './model.ts';

/** Which run status may follow which; none follows a terminal one. The store refuses every other change. */
export const RUN_TRANSITIONS: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['running', 'cancelled', 'escalated', 'failed'],
  running: ['interrupted', 'completed', 'stopped', 'escalated', 'aborted', 'failed', 'cancelled'],
  interrupted: ['running', 'escalated', 'cancelled', 'failed'],
  completed: [],
  stopped: [],
  escalated: [],
  aborted: [],
  failed: [],
  cancelled: [],
};

/** The statuses that a run may have before this one. */
export const statusesBefore = (next: RunStatus): RunStatus[] =>
  RUN_STATUSES.filter((status) => RUN_TRANSITIONS[status].includes(next));

/** What the end of a step means for its run: `next` goes on with the following entry. */
export const STEP_CONSEQUENCE: Record<Exclude<StepStatus, 'running'>, 'next' | TerminalRunStatus> = {
  completed: 'next',
  skipped: 'next',
  stopped: 'stopped',
  escalated: 'escalated',
  aborted: 'aborted',
  failed: 'failed',
  cancelled: 'cancelled',
};
