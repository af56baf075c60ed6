import type { FastifyInstance } from 'fastify';
import { ignoredIn } from '../list-filters.ts';
import { type PageContext, sendPage } from '../page.ts';
import { readSyncFilters, syncQuery } from './filters.ts';
import { syncView } from './view.ts';

/** `/ui/sync`: what became of the Kubernetes objects, as the controller reports it. */
export function registerSync(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/sync', async (request, reply) => {
    const [own, gateway] = await Promise.all([deps.cluster.objects(), deps.cluster.gatewayObjects()]);
    const filters = readSyncFilters(request.query as Record<string, unknown>);
    const model = syncView({ own, gateway, filters, now: deps.now() });
    const ignored = ignoredIn(request.query as object, syncQuery(filters));
    return sendPage(context, request, reply, { title: 'Sync', nav: 'sync', template: 'sync', model, ignored });
  });
}
