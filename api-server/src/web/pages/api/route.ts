import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { apiGroup, apiIndex } from './view.ts';

const NO_GROUP = {
  status: 404,
  title: 'There is no such group of routes',
  text: 'The address may be mistyped, or a newer version groups its routes in another way.',
  action: { href: paths.docs(), label: 'API reference' },
};

/** `/ui/docs`: the REST API for people, from the table that makes the routes and `/openapi.json`. */
export function registerApi(app: FastifyInstance, context: PageContext): void {
  app.get('/ui/docs', async (request, reply) => {
    const model = apiIndex(await context.deps.describe());
    return sendPage(context, request, reply, { title: 'API reference', nav: 'docs', template: 'api', model });
  });

  app.get('/ui/docs/:group', async (request, reply) => {
    const { group } = request.params as { group: string };
    const model = apiGroup(await context.deps.describe(), group);
    if (model === null) return sendProblem(context, request, reply, NO_GROUP);
    return sendPage(context, request, reply, { title: group, nav: 'docs', template: 'api-group', model });
  });
}
