import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayChange, mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { SUMMARY, unlessBusy } from '../insights/summary.ts';
import { readinessCard } from '../readiness/view.ts';
import { tryReadiness } from '../readiness/tried.ts';
import { readWhatIf } from '../readiness/what-if.ts';
import { createLayout } from '../run/graph/layout.ts';
import { pageIn } from '../portion.ts';
import { runRow } from '../runs/row.ts';
import { pipelineActions } from './actions.ts';
import { registerChanges } from './change.ts';
import { registerStart } from './start/route.ts';
import { unknownPipeline } from './unknown.ts';
import { registerValidate } from './validate/route.ts';
import { RUNS_IN_BARS } from './run-bars.ts';
import { agentsView, pipelinesOn, pipelinesView, pipelineView, stepsView } from './view.ts';

const nameOf = (request: FastifyRequest): string => (request.params as { name: string }).name;

/** Pipelines, library steps and agents as they are loaded now. */
export function registerDefinitions(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const layout = createLayout();
  registerChanges(app, context);
  registerStart(app, context);
  registerValidate(app, context);

  app.get('/ui/pipelines', async (request, reply) => {
    const admin = mayChange(deps.auth.viewer(request));
    const definitions = deps.definitions.snapshot();
    const page = pageIn(request.query);
    const names = pipelinesOn(definitions, page).rows.map(({ name }) => name);
    const last = await unlessBusy(deps.runs.lastOf(names, RUNS_IN_BARS, request.signal));
    const model = { ...pipelinesView(definitions, deps.now(), { page, last }), admin };
    return sendPage(context, request, reply, { title: 'Pipelines', nav: 'pipelines', template: 'pipelines', model });
  });

  app.get('/ui/pipelines/:name', async (request, reply) => {
    const definitions = deps.definitions.snapshot();
    const entry = definitions.byName.get(nameOf(request));
    if (entry === undefined) return sendProblem(context, request, reply, unknownPipeline(deps, request));
    const whatIf = readWhatIf(request.query as Record<string, unknown>);
    const [{ runs }, stats, report, tried, owner] = await Promise.all([
      deps.runs.list({ pipeline: entry.name, limit: 30, offset: 0 }),
      unlessBusy(deps.statistics.pipeline(entry.name, SUMMARY, request.signal)),
      deps.readiness.evaluate(entry.name, {}),
      whatIf && tryReadiness(deps.readiness, entry.name, whatIf),
      deps.definitions.ownerOf(entry.name),
    ]);
    const { name, config } = entry;
    const readiness = readinessCard({ name, config, report, whatIf, tried, now: deps.now() });
    const viewer = deps.auth.viewer(request);
    const operator = mayOperate(viewer);
    const actions = pipelineActions(entry, { owner, operator, admin: mayChange(viewer) });
    const rows = runs.map((run) => runRow(run, { now: deps.now(), currency: deps.currency }));
    return sendPage(context, request, reply, {
      title: entry.name,
      nav: 'pipelines',
      template: 'pipeline',
      model: {
        ...pipelineView(entry, definitions, { rows, currency: deps.currency, stats, layout }),
        readiness,
        operator,
        actions,
      },
    });
  });

  app.get('/ui/steps', (request, reply) =>
    sendPage(context, request, reply, {
      title: 'Steps',
      nav: 'steps',
      template: 'steps',
      model: stepsView(deps.definitions.snapshot(), deps.now(), pageIn(request.query)),
    }),
  );

  app.get('/ui/agents', async (request, reply) => {
    const model = agentsView(await deps.definitions.agents(), deps.definitions.snapshot());
    return sendPage(context, request, reply, { title: 'Agents', nav: 'agents', template: 'agents', model });
  });
}
