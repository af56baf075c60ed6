import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import { apiView } from './view.ts';

/** `/ui/docs`: the REST API for people, from the table that makes the routes and `/openapi.json`. */
export function registerApi(app: FastifyInstance, context: PageContext): void {
  const model = apiView(context.deps.apiDescription ?? { paths: {} });
  app.get('/ui/docs', (request, reply) =>
    sendPage(context, request, reply, { title: 'API reference', nav: 'docs', template: 'api', model }),
  );
}
