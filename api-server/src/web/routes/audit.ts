import { AuditQuery } from '../../service/audit/audit.ts';
import type { Services } from '../../service/services.ts';
import { AuditPage } from '../../service/views/audit.ts';
import { route, type Route } from '../route.ts';

/** The audit log (Orchestration 2.12, 4.2). */
export const auditRoutes = ({ audit }: Pick<Services, 'audit'>): Route[] => [
  route({
    method: 'GET',
    url: '/audit',
    role: 'viewer',
    id: 'listAudit',
    tag: 'audit',
    summary: 'The audit log, newest first',
    query: AuditQuery,
    answers: { 200: AuditPage },
    handler: ({ query }) => audit.list(query),
  }),
];
