import type { FastifyInstance } from 'fastify';
import { ignoredIn } from '../list-filters.ts';
import { mayOperate, type PageContext, sendPage } from '../page.ts';
import { markingView, readMarkingFilters } from './view.ts';

/** Answers on one page. */
const SHOWN = 20;

/** `/ui/marking`: answers without a mark. Its forms post to the feedback route of the run. */
export function registerMarking(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/marking', async (request, reply) => {
    const filters = readMarkingFilters(request.query as Record<string, unknown>);
    const model = markingView({
      page: await deps.feedback.unmarked({ ...filters, limit: SHOWN }, request.signal),
      marked: await deps.feedback.hasMarks(filters.pipeline),
      filters,
      pipelines: deps.definitions
        .snapshot()
        .pipelines.map(({ name }) => name)
        .toSorted(),
      operator: mayOperate(deps.auth.viewer(request)),
      now: deps.now(),
    });
    const ignored = ignoredIn(request.query as object, filters);
    return sendPage(context, request, reply, { title: 'Marking', nav: 'marking', template: 'marking', model, ignored });
  });
}
