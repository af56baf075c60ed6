import type { FastifyInstance } from 'fastify';
import { AppError } from '@signalbox/crds';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { firstRunFor } from '../runs/route.ts';
import { ignoredIn } from '../list-filters.ts';
import { readQuery, understood } from './filters.ts';
import { insightsView } from './view.ts';

/** `/ui/insights`: the same functions as the JSON routes of statistics (Orchestration 4.4). */
export function registerInsights(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/insights', async (request, reply) => {
    const query = readQuery(request.query as Record<string, unknown>);
    const insights = await deps.statistics.insights(query, request.signal).catch(whileBusy);
    if (insights === null) return sendProblem(context, request, reply, BUSY);
    const { pipelines } = deps.definitions.snapshot();
    const model = insightsView({
      insights,
      query,
      loaded: new Set(pipelines.map(({ name }) => name)),
      first: firstRunFor(request, pipelines),
    });
    const ignored = ignoredIn(request.query as object, understood(request.query as object, query));
    return sendPage(context, request, reply, {
      title: 'Insights',
      nav: 'insights',
      template: 'insights',
      model,
      ignored,
    });
  });
}

const BUSY = {
  status: 503,
  title: 'The statistics take too long at the moment',
  text: 'The server is busy, or the history is long. Try again in a moment, or choose a shorter time range.',
};

const whileBusy = (error: unknown): null => {
  if (error instanceof AppError && error.type === 'unavailable') return null;
  throw error;
};
