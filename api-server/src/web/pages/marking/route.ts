import type { FastifyInstance } from 'fastify';
import { mayOperate, type PageContext, sendPage } from '../page.ts';
import { markingView, readMarkingFilters } from './view.ts';

/** As many answers as one goes through without a pause. */
const SHOWN = 20;

/** `/ui/marking`: what people have not judged yet; the marks go where those of a run's page go. */
export function registerMarking(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/marking', async (request, reply) => {
    const filters = readMarkingFilters(request.query as Record<string, unknown>);
    const model = markingView({
      page: await deps.feedback.unmarked(filters, SHOWN),
      filters,
      pipelines: deps.definitions
        .snapshot()
        .pipelines.map(({ name }) => name)
        .toSorted(),
      operator: mayOperate(deps.auth.viewer(request)),
      now: deps.now(),
    });
    return sendPage(context, request, reply, { title: 'Marking', nav: 'marking', template: 'marking', model });
  });
}
