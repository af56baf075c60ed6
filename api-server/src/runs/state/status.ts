import type { RunStatus, StepStatus, TerminalRunStatus } from './model.ts';

/** Which run status may follow which (Design 3, "Statuses"); a terminal one is followed by none. */
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
