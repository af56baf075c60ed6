import { setTimeout as sleep } from 'node:timers/promises';
import type { Approvals } from '../service/approvals/approvals.ts';
import { tooLate } from '../service/approvals/decide.ts';
import { createChats } from '../chat/chats.ts';
import type { Config } from '../config/config.ts';
import { httpExecutor } from '../executors/http.ts';
import { approvalView } from '../service/views/views.ts';
import type { Logs } from '../observability/logger.ts';
import { messagesOf } from '../store/tables/approvals.ts';
import type { Database } from '../store/db/database.ts';
import type { PageDeps } from '../web/pages/page-deps.ts';

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

export interface ChatParts {
  config: Pick<Config, 'notifications'>;
  logs: Pick<Logs, 'log'>;
  database: Database;
  approvals: Approvals;
}

/** The operator answers for the addresses in the service's own configuration. */
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** Chats that decide as the JSON routes do. */
export const wireChats = ({ config, logs, database, approvals }: ChatParts) =>
  createChats({
    settings: config.notifications,
    http: httpExecutor(EVERYWHERE),
    decide: approvals.decide,
    onClosed: approvals.onClosed,
    messagesOf: (approval) => messagesOf(database.db, approval),
    delay: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    warn: (message) => logs.log.warn(message),
  });
