import type { RecordedStep } from '../../store/tables/replay/golden-members.ts';

/** Every member is an agent's call at every fire of a schedule, and a page shows all of them. */
export const MAX_MEMBERS = 200;
const ANSWERED = ['completed', 'escalated', 'aborted', 'stopped'];

type Execution = Pick<RecordedStep, 'status' | 'executor' | 'agent' | 'batchId' | 'primaryConfidence'>;

/** Why an execution has no answer of an agent that a replay could repeat; null where it has one. */
export function whyNoAnswer({ batchId, agent, executor, status, primaryConfidence }: Execution): string | null {
  if (batchId !== null) return 'this is the result of a replay; pin the step that it repeats';
  if (agent === null || (executor !== 'gateway' && executor !== 'external'))
    return `a step of the executor ${executor} has no agent to replay`;
  if (!ANSWERED.includes(status) || primaryConfidence === null)
    return `the step has no answer: its status is ${status}`;
  return null;
}

export const NO_LABEL = 'the step has no label; mark it as correct, partial or incorrect first';
