import type { FastifyInstance } from 'fastify';
import { ignoredIn } from '../list-filters.ts';
import { type PageContext, sendPage } from '../page.ts';
import { readFilters, toAuditQuery } from './filters.ts';
import { auditView } from './view.ts';

/** `/ui/audit`: the audit log. The YAML before a change expands on demand, also without script. */
export function registerAudit(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/audit', async (request, reply) => {
    const query = request.query as Record<string, unknown>;
    const filters = readFilters(query);
    const { rows, total } = await deps.audit.list(toAuditQuery(filters));
    const open = typeof query['open'] === 'string' ? Number(query['open']) : null;
    const model = auditView({ rows, total, filters, open, definitions: deps.definitions.snapshot(), now: deps.now() });
    const ignored = ignoredIn(query, { ...filters, open });
    return sendPage(context, request, reply, { title: 'Audit', nav: 'audit', template: 'audit', model, ignored });
  });
}
