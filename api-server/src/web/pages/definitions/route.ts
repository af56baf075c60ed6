import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { SUMMARY, unlessBusy } from '../insights/summary.ts';
import { paths } from '../paths.ts';
import { readinessCard } from '../readiness/view.ts';
import { tryReadiness } from '../readiness/tried.ts';
import { readWhatIf } from '../readiness/what-if.ts';
import { runRow } from '../runs/row.ts';
import { agentsView, pipelinesView, pipelineView, stepsView } from './view.ts';

const nameOf = (request: FastifyRequest): string => (request.params as { name: string }).name;

const unknown = (what: string, href: string, label: string) => ({
  status: 404,
  title: `There is no such ${what}`,
  text: 'It may have been renamed or removed, or its file has an error that keeps it from loading.',
  action: { href, label },
});

/** Pipelines, library steps and agents as they are loaded now. */
export function registerDefinitions(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/pipelines', (request, reply) =>
    sendPage(context, request, reply, {
      title: 'Pipelines',
      nav: 'pipelines',
      template: 'pipelines',
      model: pipelinesView(deps.definitions.snapshot(), deps.now()),
    }),
  );

  app.get('/ui/pipelines/:name', async (request, reply) => {
    const definitions = deps.definitions.snapshot();
    const entry = definitions.pipelines.find((pipeline) => pipeline.name === nameOf(request));
    if (entry === undefined)
      return sendProblem(context, request, reply, unknown('pipeline', paths.pipelines(), 'All pipelines'));
    const whatIf = readWhatIf(request.query as Record<string, unknown>);
    const [{ runs }, stats, report, tried] = await Promise.all([
      deps.runs.list({ pipeline: entry.name, limit: 5, offset: 0 }),
      unlessBusy(deps.statistics.pipeline(entry.name, SUMMARY, request.signal)),
      deps.readiness.evaluate(entry.name, {}),
      whatIf && tryReadiness(deps.readiness, entry.name, whatIf),
    ]);
    const { name, config } = entry;
    const readiness = readinessCard({ name, config, report, whatIf, tried, now: deps.now() });
    const operator = mayOperate(deps.auth.viewer(request));
    const rows = runs.map((run) => runRow(run, { now: deps.now(), currency: deps.currency }));
    return sendPage(context, request, reply, {
      title: entry.name,
      nav: 'pipelines',
      template: 'pipeline',
      model: { ...pipelineView(entry, definitions, { rows, currency: deps.currency, stats }), readiness, operator },
    });
  });

  app.get('/ui/steps', (request, reply) =>
    sendPage(context, request, reply, {
      title: 'Steps',
      nav: 'steps',
      template: 'steps',
      model: stepsView(deps.definitions.snapshot(), deps.now()),
    }),
  );

  app.get('/ui/agents', async (request, reply) => {
    const model = agentsView(await deps.definitions.agents(), deps.definitions.snapshot());
    return sendPage(context, request, reply, { title: 'Agents', nav: 'agents', template: 'agents', model });
  });
}
