import { NAME_PATTERN, available } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { SUMMARY, unlessBusy } from '../insights/summary.ts';
import type { StepStatistics } from '../../../service/views/analytics/statistics.ts';
import type { PromptVersionView } from '../../../service/views/analytics/versions.ts';
import type { PageDeps } from '../page-deps.ts';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { unlessUnknown } from '../problems.ts';
import { pipelineSteps } from '../definitions/places.ts';
import { type StepPast, stepPageView } from './view.ts';

const unknownStep = ({ definitions }: Pick<PageDeps, 'definitions'>, name: string) => {
  const { steps, pipelines } = definitions.snapshot();
  const names = new Set([...steps, ...pipelineSteps(pipelines)].map((step) => step.name));
  return {
    status: 404,
    title: 'There is no such step',
    text: `Unknown step ${name.slice(0, 64)}: it is neither in the library nor in a pipeline, and never ran. ${available([...names])}`,
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

async function pastOf({ history, statistics }: PageDeps, { name, asked }: Asked, signal: AbortSignal) {
  const versions = await history.promptVersions(name, signal).catch(unlessUnknown);
  const nothing: StepPast = { versions, pipelines: [], pipeline: null, buckets: [], stats: null, models: null };
  if (versions === null) return nothing;
  const stats = await unlessBusy(statistics.step(name, SUMMARY, signal));
  const pipelines = pipelinesOf(versions, stats);
  const pipeline = pipelines.length < 2 ? undefined : (pipelines.find((one) => one === asked) ?? pipelines[0]);
  const within = pipeline === undefined ? {} : { pipeline };
  const [own, ofPipeline, buckets, models] = await Promise.all([
    pipeline === undefined ? versions : history.promptVersions(name, signal, pipeline),
    pipeline === undefined ? stats : unlessBusy(statistics.step(name, { ...SUMMARY, ...within }, signal)),
    history.calibration(name, within, signal),
    unlessBusy(statistics.stepModels(name, { ...SUMMARY, ...within }, signal)),
  ]);
  return { versions: own, pipelines, pipeline: pipeline ?? null, buckets, stats: ofPipeline, models };
}

/** All pipelines that ever had the step, as far as it is known: the busiest of now first. */
const pipelinesOf = (versions: readonly PromptVersionView[], stats: StepStatistics | null): string[] => [
  ...new Set([
    ...(stats?.pipelines ?? []).map((one) => one.pipeline_name),
    ...versions.flatMap((version) => version.pipelines),
  ]),
];
