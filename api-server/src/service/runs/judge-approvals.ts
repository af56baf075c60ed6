import { AppError } from '@signalbox/crds';
import type { Approval } from '../../runs/human/approval.ts';
import type { TakenApproval } from '../../runs/run/rerun.ts';
import { type ApproverRules, holdsFor, tightened } from '../approvals/approvers.ts';

interface Judging {
  /** Who starts the run that takes the answers over. */
  starter: string;
  rules: ApproverRules;
  /** Whether a run of this pipeline, started now by the new run or one below it, is one of production. */
  isProduction(pipeline: string): boolean;
}

/**
 * Throws `validation` for an answer of people that is no approval of a run that `starter` starts now, by the configuration and by what the
 * step asks for now.
 */
export function judgeApprovals(
  taken: readonly TakenApproval[],
  stored: ReadonlyMap<string, Approval>,
  judging: Judging,
): void {
  for (const one of taken) {
    const approval = stored.get(one.id);
    if (approval && holds(approval, one, judging)) continue;
    const by = approval?.decidedBy ?? null;
    const why =
      by === null ? 'no approval is stored' : `the answer of ${by} does not approve a rerun by ${judging.starter}`;
    const message = `step "${one.entry}" asks people and ${why}; rerun from it or from a step before it`;
    throw new AppError('validation', message);
  }
}

function holds(approval: Approval, { step }: TakenApproval, { starter, rules, isProduction }: Judging): boolean {
  // What was decided in testing is no decision about production, also below a run of production.
  if (approval.stage === 'testing' && isProduction(approval.pipelineName)) return false;
  if (approval.status === 'timed_out') return step.on_timeout === 'proceed';
  const { required = 1, not_the_starter: notTheStarter = false } = step;
  return holdsFor(tightened(approval, { ...rules, required, notTheStarter }), starter, rules);
}
