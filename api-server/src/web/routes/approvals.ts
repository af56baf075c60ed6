import { z } from 'zod';
import { ApprovalsQuery, Decision } from '../../service/approvals/decisions.ts';
import { idOf } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { ApprovalLine, ApprovalsPage } from '../../service/views/approval.ts';
import { route, type Route } from '../route.ts';

/** Approvals and their decisions (Orchestration 3, 5). */
export const approvalRoutes = ({ approvals }: Pick<Services, 'approvals'>): Route[] => [
  route({
    method: 'GET',
    url: '/approvals',
    role: 'viewer',
    id: 'listApprovals',
    tag: 'approvals',
    summary: 'List approvals: pending ones first, of these the next one to expire, then the newest',
    query: ApprovalsQuery,
    answers: { 200: ApprovalsPage },
    handler: ({ query }) => approvals.list(query),
  }),
  route({
    method: 'POST',
    url: '/approvals/:id',
    role: 'operator',
    id: 'decideApproval',
    tag: 'approvals',
    summary:
      'Decide an approval; the first decision is final. Where two persons have to approve, the first approval leaves it pending',
    params: z.strictObject({ id: idOf('approval') }),
    body: Decision,
    answers: { 200: ApprovalLine },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, body, actor }) => approvals.decide(params.id, body, actor),
  }),
];
