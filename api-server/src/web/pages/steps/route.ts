import { meantOrAvailable, NAME_PATTERN } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { chosenOf } from '../../../service/statistics/statistics.ts';
import { SUMMARY, unlessBusy } from '../insights/summary.ts';
import type { PageDeps } from '../page-deps.ts';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { unlessUnknown } from '../problems.ts';
import { pipelineSteps } from '../definitions/places.ts';
import { type StepPast, stepPageView } from './view.ts';

const unknownStep = ({ definitions }: Pick<PageDeps, 'definitions'>, name: string) => {
  const loaded = definitions.snapshot();
  const names = new Set([...loaded.steps, ...pipelineSteps(loaded)].map((step) => step.name));
  return {
    status: 404,
    title: 'There is no such step',
    text: `Unknown step ${name.slice(0, 64)}: it is neither in the library nor in a pipeline, and never ran. ${meantOrAvailable(name, [...names])}`,
    action: { href: paths.steps(), label: 'All steps' },
  };
};

/** A step with its history: from the library, from pipelines only, or no longer defined. */
export function registerSteps(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/steps/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!NAME_PATTERN.test(name)) return sendProblem(context, request, reply, unknownStep(deps, name));
    const { pipeline } = request.query as Record<string, unknown>;
    const past = await unlessBusy(pastOf(deps, { name, asked: pipeline }, request.signal));
    const around = { rule: deps.history.rule, now: deps.now() };
    const model = stepPageView(name, deps.definitions.snapshot(), past, around);
    if (model === null) return sendProblem(context, request, reply, unknownStep(deps, name));
    return sendPage(context, request, reply, { title: name, nav: 'steps', template: 'step', model });
  });
}

interface Asked {
  name: string;
  /** The pipeline whose step is shown, where several have one of this name. */
  asked: unknown;
}

async function pastOf(
  { history, statistics }: PageDeps,
  { name, asked }: Asked,
  signal: AbortSignal,
): Promise<StepPast> {
  const known = await history.step(name, signal).catch(unlessUnknown);
  if (known === null) return { versions: null, pipelines: [], pipeline: null, buckets: [], stats: null, models: null };
  const wanted = typeof asked === 'string' ? asked : undefined;
  const figures = await unlessBusy(
    statistics.stepIn(name, { query: SUMMARY, pipeline: wanted, pipelines: known.pipelines }, signal),
  );
  const { pipelines, pipeline } = figures ?? {
    pipelines: known.pipelines,
    pipeline: chosenOf(known.pipelines, wanted),
  };
  const { stats, models } = figures ?? { stats: null, models: null };
  return { ...(await known.of(pipeline)), stats, models, pipelines, pipeline: pipeline ?? null };
}
