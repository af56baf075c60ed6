import type { ShownRun } from './step/shown-step.ts';

/** The banner of a run that failed, waits or ended early. */
export interface Notice {
  tone: 'bad' | 'escalated' | 'wait' | 'quiet';
  icon: string;
  title: string;
  text: string;
  next: string;
  /** Where to do it on this page. */
  action: { href: string; label: string } | null;
}

const NOTICES: Record<string, (run: ShownRun) => Omit<Notice, 'text' | 'action'>> = {
  failed: (run) => ({
    tone: 'bad',
    icon: 'failed',
    title: 'This run failed',
    next: afterFailure(run),
  }),
  aborted: (run) => ({
    tone: 'bad',
    icon: 'aborted',
    title: 'This run was aborted',
    next: afterAbort(run),
  }),
  escalated: (run) => ({
    tone: 'escalated',
    icon: 'escalated',
    title: run.attention === 'resolved' ? 'This run escalated' : 'This run needs a person',
    next: run.attention === 'resolved' ? 'It is resolved, as said below.' : whatAPersonDoes(run),
  }),
  stopped: (run) => ({
    tone: 'quiet',
    icon: 'stopped',
    title: stoppedByAgent(run) ? 'The agent stopped this run' : 'This run was stopped',
    next: stoppedByAgent(run)
      ? 'An agent answered that the run should not go on. Its Output has what it said.'
      : 'The step below says why. No later step of this run runs.',
  }),
  cancelled: () => ({
    tone: 'quiet',
    icon: 'cancelled',
    title: 'This run was cancelled',
    next: 'What ended before is kept. No further step runs.',
  }),
  interrupted: () => ({
    tone: 'wait',
    icon: 'interrupted',
    title: 'This run was interrupted',
    next: 'The service stopped while it ran. `durable` of its pipeline says whether it goes on or ends.',
  }),
};

const whatAPersonDoes = (run: ShownRun): string =>
  stepOf(run)?.trust_report?.passed === false
    ? 'Read the Evidence below, act on the alert, then mark the step: marks calibrate the agent.'
    : 'Act on the alert: this run has ended and no later step runs.';

/** An agent that answers `proceed: false` ends its step with this error. */
const stoppedByAgent = (run: ShownRun): boolean => {
  const step = stepOf(run);
  return step?.error?.type === 'stopped' && (step.executor === 'gateway' || step.executor === 'external');
};

function afterFailure({ steps, fingerprint }: ShownRun): string {
  const where =
    steps.length === 0 ? 'The service log has the details.' : 'The Log of the step says what happened around it.';
  const repeats =
    fingerprint === null ? '' : ' Where dedup is on, a repeat of its alert within the window is suppressed.';
  return `${where} Fix the cause, then run it again.${repeats}`;
}

function afterAbort(run: ShownRun): string {
  const type = stepOf(run)?.error?.type;
  if (type === 'rejected')
    return 'A person rejected it, so no later step ran. Run it again from there to ask once more.';
  if (type === 'gate')
    return 'The pipeline says to stop here. Read the Evidence of the step, and mark it so that its threshold can be trusted.';
  return 'No later step ran. Fix what the step reports, then run it again from there.';
}

/** The step that ended the run. */
const stepOf = ({ steps, error }: ShownRun) => steps.find(({ step_name: name }) => name === error?.step);

const DECISION = {
  tone: 'wait',
  icon: 'waiting',
  title: 'Waiting for a decision',
  next: 'Approve or reject it; then the run continues.',
  action: { href: '#step', label: 'Decide below' },
} as const;

/** The banner: what happened and what to do next; null for a run that completed. */
export function noticeOf(run: ShownRun): Notice | null {
  if (run.status === 'running' && run.waiting_on !== null) {
    const text = run.current_step === null ? '' : `Step ${run.current_step}.`;
    if (run.waiting_on === 'human') return { ...DECISION, text };
    return {
      tone: 'wait',
      icon: 'waiting',
      title: 'Waiting on a sub-run',
      text,
      next: 'The sub-run waits for a decision: open it below. Then this run continues.',
      action: { href: '#children', label: 'See sub-runs' },
    };
  }
  const base = NOTICES[run.status]?.(run);
  if (base === undefined) return null;
  return { ...base, text: whatHappened(run), action: null };
}

/** The reason in words; where the gate decided, the evidence of the step has the details. */
function whatHappened(run: ShownRun): string {
  if (run.error === null) return '';
  const step = stepOf(run);
  if (step?.trust_report?.passed === false) return `The step ${step.step_name} did not pass its gate.`;
  if (step !== undefined) return `${step.step_name}: ${run.error.message}`;
  // The title says already that it was cancelled.
  const text = run.error.message.replace(/^cancelled (?=by )/, '');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
