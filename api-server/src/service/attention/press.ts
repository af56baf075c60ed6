import { AppError } from '@signalbox/crds';
import type { AttentionPress } from '../../notify/attention-buttons.ts';
import type { RunAttention } from '../views/attention.ts';
import type { Actor } from '../actor.ts';
import { type ApproverRules, strangerTo } from '../approvals/approvers.ts';
import type { Escalations } from './attention.ts';

interface Asked {
  press: AttentionPress;
  by: Pick<Actor, 'name'>;
}

export interface AttendDeps {
  escalations: Pick<Escalations, 'acknowledge' | 'resolve'>;
  rules: ApproverRules;
  /** The team of a run; null also for a run that is not known. */
  teamOf(runId: string): Promise<string | null>;
}

/**
 * What a button in a chat does to a run that needs people, answered in a sentence for the person who pressed it. A member of a chat has
 * no role: where the operator names approvers, only those of the run's team may act.
 */
export const attendBy =
  ({ escalations, rules, teamOf }: AttendDeps) =>
  async (runId: string, { press, by: { name } }: Asked): Promise<string> => {
    const by: Actor = { name, kind: 'chat', role: null, requestId: null };
    const refusal = rules.approvers === null ? null : strangerTo(rules, await teamOf(runId), name);
    if (refusal !== null) return `Not changed: ${refusal}. An operator can act on the page of the run.`;
    try {
      return SENTENCES[press](await CHANGES[press](escalations, runId, by), name);
    } catch (error) {
      if (error instanceof AppError && error.type === 'not_found') return 'This run is not known here.';
      if (error instanceof AppError && error.type === 'conflict') return `Not changed: ${error.message}.`;
      throw error;
    }
  };

type Change = (to: Pick<Escalations, 'acknowledge' | 'resolve'>, runId: string, by: Actor) => Promise<RunAttention>;

const CHANGES: Record<AttentionPress, Change> = {
  acknowledge: (to, runId, by) => to.acknowledge(runId, { note: null }, by),
  resolve: (to, runId, by) => to.resolve(runId, { resolution: 'handled', note: null }, by),
  false_alarm: (to, runId, by) => to.resolve(runId, { resolution: 'false_alarm', note: null }, by),
};

const SENTENCES: Record<AttentionPress, (changed: RunAttention, name: string) => string> = {
  acknowledge: ({ assignee }, name) => `Acknowledged, assigned to ${assignee === name ? 'you' : assignee}.`,
  resolve: () => 'Resolved.',
  false_alarm: () => 'Resolved as a false alarm.',
};
