import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import { apiView } from './view.ts';

/** `/ui/docs`: the REST API for people, from the table that makes the routes and `/openapi.json`. */
export function registerApi(app: FastifyInstance, context: PageContext): void {
  app.get('/ui/docs', async (request, reply) => {
    const model = apiView(await context.deps.describe());
    return sendPage(context, request, reply, { title: 'API reference', nav: 'docs', template: 'api', model });
  });
}
