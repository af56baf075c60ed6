import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import { firstRunFor } from '../runs/route.ts';
import { overviewView } from './view.ts';

const DAY_MS = 86_400_000;

/** `/ui/`: a handful of bounded questions to the list of runs. */
export function registerOverview(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui', (_request, reply) => reply.redirect('/ui/'));
  app.get('/ui/', async (request, reply) => {
    const now = deps.now();
    const since = (days: number) => new Date(now - days * DAY_MS).toISOString();
    const ask = (status: string, days: number, limit = 8) =>
      deps.listRuns({ status, since: since(days), limit, offset: 0 });
    const [running, escalated, failed, completed, testing] = await Promise.all([
      deps.listRuns({ status: 'running', limit: 50, offset: 0 }),
      ask('escalated', 7),
      ask('failed,aborted', 1),
      ask('completed', 1, 1),
      deps.listRuns({ stage: 'testing', since: since(7), limit: 200, offset: 0 }),
    ]);
    const { pipelines } = deps.definitions();
    const first = firstRunFor(request, pipelines);
    const model = overviewView({
      running,
      escalated,
      failed,
      completed,
      testing,
      pipelines,
      verdictOf: deps.verdictOf,
      first,
      now,
      currency: deps.currency,
    });
    return sendPage(context, request, reply, { title: 'Overview', nav: 'overview', template: 'overview', model });
  });
}
