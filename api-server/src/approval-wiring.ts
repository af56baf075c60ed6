import type { Approvals } from './approvals/approvals.ts';
import { tooLate } from './approvals/decide.ts';
import { approvalView } from './http/views.ts';
import type { PageDeps } from './ui/page-deps.ts';

/** Approvals for people: the same list and the same decision as through the JSON routes. */
export function pageApprovals(
  approvals: Approvals,
): Pick<PageDeps, 'listApprovals' | 'findApproval' | 'decideApproval'> {
  return {
    listApprovals: async ({ limit, offset, ...filter }) => {
      const { approvals: found, total } = await approvals.list(filter, { limit, offset });
      return { approvals: found.map(approvalView), total };
    },
    findApproval: async (id) => {
      const found = await approvals.find(id);
      return found && approvalView(found);
    },
    decideApproval: async ({ id, by, requestId, ...verdict }) => {
      const who = { name: by.name, kind: 'token', role: by.role, requestId } as const;
      const decided = await approvals.decide(id, { verdict, by: who });
      switch (decided.kind) {
        case 'decided':
        case 'not_found':
          return { kind: decided.kind };
        case 'conflict':
        case 'expired':
          return { kind: 'closed', message: tooLate(decided.approval) };
        case 'invalid':
          return { kind: 'invalid', problems: decided.problems.map(({ loc, msg }) => ({ field: loc[1] ?? '', msg })) };
        default:
          return decided satisfies never;
      }
    },
  };
}
