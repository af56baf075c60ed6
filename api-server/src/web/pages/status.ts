import type { ShownStep } from './run/step/shown-step.ts';

/** How a status is shown: icon, word and tone together, never by colour alone. */
export interface StatusLook {
  icon: string;
  word: string;
  tone: 'live' | 'wait' | 'good' | 'escalated' | 'bad' | 'quiet';
}

const WAITING: StatusLook = { icon: 'waiting', word: 'Waiting', tone: 'wait' };
const LOOKS: Record<string, StatusLook> = {
  queued: { icon: 'queued', word: 'Queued', tone: 'wait' },
  running: { icon: 'running', word: 'Running', tone: 'live' },
  interrupted: { icon: 'interrupted', word: 'Interrupted', tone: 'wait' },
  completed: { icon: 'completed', word: 'Completed', tone: 'good' },
  escalated: { icon: 'escalated', word: 'Escalated', tone: 'escalated' },
  failed: { icon: 'failed', word: 'Failed', tone: 'bad' },
  aborted: { icon: 'aborted', word: 'Aborted', tone: 'bad' },
  stopped: { icon: 'stopped', word: 'Stopped', tone: 'quiet' },
  cancelled: { icon: 'cancelled', word: 'Cancelled', tone: 'quiet' },
  skipped: { icon: 'skipped', word: 'Skipped', tone: 'quiet' },
  pending: { icon: 'pending', word: 'Not started', tone: 'quiet' },
  unreached: { icon: 'pending', word: 'Not reached', tone: 'quiet' },
};

/** The look of a run or step status; a running one that waits for someone shows as waiting. */
export function statusLook(status: string, waitingOn: string | null = null): StatusLook {
  if (status === 'running' && waitingOn !== null) return WAITING;
  return LOOKS[status] ?? { icon: 'pending', word: status, tone: 'quiet' };
}

/** In a rerun: a result that was taken from the original run. */
const TAKEN_OVER: StatusLook = { icon: 'completed', word: 'Taken over', tone: 'quiet' };

/** The look of one step. */
export function stepLook({
  status,
  raw_response: raw,
  waits,
}: Pick<ShownStep, 'status' | 'raw_response' | 'waits'>): StatusLook {
  if (raw?.loaded !== undefined) return TAKEN_OVER;
  return statusLook(status, waits ? 'human' : null);
}

const ACTIVE = new Set(['queued', 'running', 'interrupted']);
export const isActive = (status: string): boolean => ACTIVE.has(status);

const SEVERITY_TONES: Record<string, StatusLook['tone']> = { critical: 'bad', error: 'bad', warning: 'wait' };
export const severityTone = (severity: string): StatusLook['tone'] => SEVERITY_TONES[severity.toLowerCase()] ?? 'quiet';
