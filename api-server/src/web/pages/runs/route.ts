import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayOperate, originOf, type PageContext, sendPage } from '../page.ts';
import type { Snapshot } from '../../../service/definitions/definitions.ts';
import { registerBulk } from './bulk/route.ts';
import { firstRun, type FirstRun } from './first-run.ts';
import { ignoredIn } from '../list-filters.ts';
import { PAGE_SIZE, readFilters, toRunsQuery } from './filters/filters.ts';
import { runsView } from './view.ts';
import { ownViews, registerViews } from './views/route.ts';

/** The command for a first run, with the address that this browser used. */
export function firstRunFor(request: FastifyRequest, pipelines: Snapshot['pipelines']): FirstRun {
  const pipeline = pipelines[0];
  const testing = pipeline?.config.stage !== 'production';
  return firstRun(originOf(request), pipeline === undefined ? null : { name: pipeline.name, testing });
}

/** `/ui/runs`, and the number of newer runs for its poll. */
export function registerRuns(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  registerBulk(app, context);
  registerViews(app, context);

  app.get('/ui/runs', async (request, reply) => {
    const filters = readFilters(request.query as Record<string, unknown>);
    const page = await deps.runs.list(toRunsQuery(filters, deps.now()));
    const { pipelines } = deps.definitions.snapshot();
    const model = runsView({
      page,
      filters,
      views: { teams: deps.views, own: ownViews(context, request) },
      pipelines: pipelines.map(({ name }) => name).toSorted(),
      first: firstRunFor(request, pipelines),
      operator: mayOperate(deps.auth.viewer(request)),
      now: deps.now(),
      currency: deps.currency,
    });
    const ignored = ignoredIn(request.query as object, filters);
    return sendPage(context, request, reply, { title: 'Runs', nav: 'runs', template: 'runs', model, ignored });
  });

  app.get('/ui/runs/news', async (request, reply) => {
    const query = request.query as Record<string, unknown>;
    const after = new Date(String(query['after']));
    if (Number.isNaN(after.getTime())) return reply.code(400).send({ new: 0 });
    const { runs } = await deps.runs.list({
      ...toRunsQuery({ ...readFilters(query), page: 1 }, deps.now()),
      since: after.getTime(),
    });
    const fresh = runs.filter((run) => run.id !== query['seen']).length;
    return reply.header('cache-control', 'no-store').send({ new: fresh, more: fresh >= PAGE_SIZE - 1 });
  });
}
