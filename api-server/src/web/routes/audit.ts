import { z } from 'zod';
import type { AuditFilter, AuditRow } from '../../store/tables/audit.ts';
import { auditView } from '../../service/views/audit.ts';
import { count, Instant, line } from '../fields.ts';
import { route, type Route } from '../route.ts';

export interface AuditRoutesDeps {
  listAudit(filter: AuditFilter, page: { limit: number; offset: number }): Promise<{ rows: AuditRow[]; total: number }>;
}

const AuditQuery = z.strictObject({
  actor: line().optional(),
  role: z.enum(['admin', 'operator', 'viewer', 'webhook']).optional(),
  action: line().optional(),
  target_type: line().optional(),
  target: line().optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  limit: count(1, 200).default(50),
  offset: count(0, 1_000_000_000).default(0),
});

/** Who changed what (Orchestration 2.12 and 4.2, Design 5). */
export const auditRoutes = ({ listAudit }: AuditRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/audit',
    role: 'viewer',
    summary: 'The audit log, newest first',
    query: AuditQuery,
    handler: async ({ query: { limit, offset, target_type: targetType, ...filter } }) => {
      const { rows, total } = await listAudit({ ...filter, targetType }, { limit, offset });
      return { rows: rows.map(auditView), limit, offset, total };
    },
  }),
];
