import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { type Approval, APPROVAL_STATUSES, type Decided, tooLate, type Verdict } from '../../runs/human/approval.ts';
import { MAX_ENTRIES } from '../../runs/state/field-sizes.ts';
import { flatMap } from '../../triggers/sources/text-map.ts';
import type { Actor } from '../actor.ts';
import { count, freeText, RunId, unknownId } from '../fields.ts';
import { component } from '../views/answer.ts';
import { type ApprovalLine, type ApprovalsPage, approvalView } from '../views/approval.ts';
import type { Approvals } from './approvals.ts';
import { type ApproverRules, personsOf } from './approvers.ts';

export const ApprovalsQuery = z.strictObject({
  status: z.enum(APPROVAL_STATUSES).optional(),
  run: RunId.optional(),
  limit: count(1, 200).default(50),
  offset: count(0, 1_000_000_000).default(0),
});
export type ApprovalsQuery = z.output<typeof ApprovalsQuery>;

export const Decision = component(
  'Decision',
  z.strictObject({
    decision: z.enum(['approve', 'reject']),
    fields: flatMap(MAX_ENTRIES, z.string().max(64)).default({}),
    comment: freeText(4_000)
      .nullish()
      .transform((text) => text?.trim() || null),
  }),
  { decision: 'approve', fields: { ticket: 'OPS-412' }, comment: 'Restart it.' },
);

/** Approvals and their decisions (Orchestration 3, 5); the first decision is final. */
export interface Decisions {
  /** Pending approvals first, the next one to expire before all, then the newest. */
  list(query: ApprovalsQuery): Promise<ApprovalsPage>;
  /** How many are pending. */
  countWaiting(): Promise<number>;
  /** Throws `not_found`. */
  get(id: string): Promise<ApprovalLine>;
  /** Throws `not_found`, `forbidden` for who may not decide so, `conflict` where it is already closed, `validation` with `errors` for the fields. */
  decide(id: string, decision: Verdict, actor: Actor): Promise<ApprovalLine>;
}

export const createDecisions = ({
  list,
  countWaiting,
  find,
  decide,
  rules,
}: Pick<Approvals, 'list' | 'countWaiting' | 'find' | 'decide' | 'rules'>): Decisions => ({
  countWaiting,
  list: async ({ limit, offset, ...filter }) => {
    const { approvals, total } = await list(filter, { limit, offset });
    return {
      approvals: approvals.map((approval) => approvalView(approval, approversOf(rules, approval))),
      limit,
      offset,
      total,
    };
  },
  get: async (id) => {
    const found = await find(id);
    if (!found) throw unknownId('approval');
    return approvalView(found, approversOf(rules, found));
  },
  decide: async (id, verdict, by) => answer(rules, await decide(id, { verdict, by })),
});

/** All names of those who may decide; null for everybody. */
const approversOf = (rules: ApproverRules, { team }: Pick<Approval, 'team'>): string[] | null =>
  personsOf(rules, team)?.flat() ?? null;

function answer(rules: ApproverRules, decided: Decided): ApprovalLine {
  switch (decided.kind) {
    case 'decided':
    case 'voted':
      return approvalView(decided.approval, approversOf(rules, decided.approval));
    case 'forbidden':
      throw new AppError('forbidden', decided.message);
    case 'not_found':
      throw unknownId('approval');
    case 'conflict':
    case 'expired': {
      const { status, decidedBy } = decided.approval;
      const extra = { status: decided.kind === 'expired' ? 'timed_out' : status, decided_by: decidedBy };
      throw new AppError('conflict', tooLate(decided.approval), { extra });
    }
    case 'invalid': {
      const [first] = decided.problems;
      const errors = decided.problems.map(({ loc, msg }) => ({ loc: ['body', ...loc], msg }));
      throw new AppError('validation', `body.${first?.loc.join('.') ?? ''}: ${first?.msg ?? ''}`, {
        extra: { errors },
      });
    }
    default:
      return decided satisfies never;
  }
}
