import { isFanOut, isParallel, type Notification as Written, type Pipeline, type Step } from '@signalbox/crds';
import type { TerminalRunStatus } from '../runs/state/model.ts';
import type { NotificationEvent } from './message.ts';

/** What the end of a run is called in `notifications`; a cancelled run is not announced. */
export const EVENT_OF: Record<TerminalRunStatus, NotificationEvent | null> = {
  completed: 'complete',
  stopped: 'stop',
  escalated: 'escalate',
  aborted: 'abort',
  failed: 'fail',
  cancelled: null,
};

/**
 * The messages that a definition wants for an event: those of the step it is about, else of the group around it, else of the
 * pipeline. An empty list is a choice too: nothing is sent.
 */
export function chooseMessages(pipeline: Pipeline, step: string | null, event: NotificationEvent): readonly Written[] {
  const scopes: Scope[] = [...stepScopes(pipeline.steps, step), pipeline.notifications];
  // A reminder goes where the escalation went.
  const key = event === 'remind' ? 'escalate' : event;
  return scopes.map((scope) => scope?.[key]).find((list) => list !== undefined) ?? [];
}

/** A definition says nothing of a replay by the clock. */
type Scope = Partial<Record<NotificationEvent, readonly Written[]>> | undefined;

/** From the inside out; a fan-out's branch is named `<step>/<index>`. */
function stepScopes(steps: readonly Step[], name: string | null): Scope[] {
  if (name === null) return [];
  const [family, index] = name.split('/');
  for (const step of steps) {
    if (step.name === family)
      return index !== undefined && isFanOut(step)
        ? [step.fan_out.step.notifications, step.notifications]
        : [step.notifications];
    const branch = isParallel(step) ? step.parallel.steps.find((one) => one.name === family) : undefined;
    if (branch) return [branch.notifications, step.notifications];
  }
  return [];
}
