import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import { firstRunFor } from '../runs/route.ts';
import type { RunLine } from '../../../service/views/run.ts';
import { unlessBusy } from '../insights/summary.ts';
import { overviewView } from './view.ts';

const DAY_MS = 86_400_000;

/** `/ui/`: a fixed number of bounded queries of the list of runs. Batches of replays stand in that list and are no work of the day. */
export function registerOverview(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const { runs, definitions } = deps;
  app.get('/ui', (_request, reply) => reply.redirect('/ui/'));
  app.get('/ui/', async (request, reply) => {
    const now = deps.now();
    const since = (days: number) => now - days * DAY_MS;
    const ask = (status: RunLine['status'][], days: number, limit = 8) =>
      runs.list({ status, replay: false, since: since(days), limit, offset: 0 });
    const live = (waiting: boolean) => runs.list({ status: ['running'], waiting, replay: false, limit: 8, offset: 0 });
    const [running, asking, open, failed, completed, testing, refused, trend] = await Promise.all([
      live(false),
      live(true),
      runs.list({ attention: ['open'], limit: 8, offset: 0 }),
      ask(['failed', 'aborted'], 1),
      ask(['completed'], 1, 1),
      runs.list({ stage: 'testing', replay: false, since: since(7), limit: 200, offset: 0 }),
      deps.keptDeliveries.refused(since(1)),
      unlessBusy(deps.statistics.trend(request.signal)),
    ]);
    const { pipelines } = definitions.snapshot();
    const first = firstRunFor(request, pipelines);
    const model = overviewView({
      running,
      asking,
      open,
      failed,
      completed,
      testing,
      refused,
      trend,
      pipelines,
      verdictOf: definitions.verdictOf,
      first,
      now,
      currency: deps.currency,
    });
    return sendPage(context, request, reply, { title: 'Overview', nav: 'overview', template: 'overview', model });
  });
}
