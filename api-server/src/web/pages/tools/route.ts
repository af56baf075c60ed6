import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import { toolsView } from './view.ts';

/** `/ui/tools`: tool servers, tools and policy, read from the gateway. */
export function registerTools(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/tools', async (request, reply) => {
    const model = toolsView(await deps.cluster.tools(), deps.now());
    return sendPage(context, request, reply, { title: 'Tools', nav: 'tools', template: 'tools', model });
  });
}
