import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { tooLate } from '../../service/approvals/decide.ts';
import { APPROVAL_STATUSES, type Decided, type Decider, type Verdict } from '../../runs/human/approval.ts';
import type { ApprovalFilter, ApprovalList } from '../../store/tables/approvals.ts';
import { count, idOf, RunId, unknownId } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { approvalView } from '../../service/views/views.ts';

export interface ApprovalRoutesDeps {
  listApprovals(filter: ApprovalFilter, page: { limit: number; offset: number }): Promise<ApprovalList>;
  decideApproval(id: string, decision: { verdict: Verdict; by: Decider }): Promise<Decided>;
}

const ById = z.strictObject({ id: idOf('approval') });

const ApprovalsQuery = z.strictObject({
  status: z.enum(APPROVAL_STATUSES).optional(),
  run: RunId.optional(),
  limit: count(1, 200).default(50),
  offset: count(0, 1_000_000_000).default(0),
});

const Decision = z.strictObject({
  decision: z.enum(['approve', 'reject']),
  fields: z.record(z.string().max(64), z.union([z.string(), z.number(), z.boolean(), z.null()])).default({}),
  comment: z
    .string()
    .max(4_000)
    .refine((text) => !text.includes('\0'), 'must not have NUL characters')
    .nullish()
    .transform((text) => text?.trim() || null),
});

/** Questions to people and their answers (Orchestration 5, Design 5). */
export const approvalRoutes = ({ listApprovals, decideApproval }: ApprovalRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/approvals',
    role: 'viewer',
    summary: 'Approvals: those that wait first, then the newest',
    query: ApprovalsQuery,
    handler: async ({ query: { limit, offset, ...filter } }) => {
      const { approvals, total } = await listApprovals(filter, { limit, offset });
      return { approvals: approvals.map(approvalView), limit, offset, total };
    },
  }),
  route({
    method: 'POST',
    url: '/approvals/:id',
    role: 'operator',
    summary: 'Decide; the first decision holds',
    params: ById,
    body: Decision,
    handler: async ({ params, body, caller, request }) => {
      const by = { name: caller.name, kind: 'token', role: caller.role, requestId: request.id } as const;
      return answer(await decideApproval(params.id, { verdict: body, by }));
    },
  }),
];

function answer(decided: Decided) {
  switch (decided.kind) {
    case 'decided':
      return approvalView(decided.approval);
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
