import { NAME_PATTERN } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { SUMMARY, unlessBusy } from '../insights/summary.ts';
import type { PageDeps } from '../page-deps.ts';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { unlessUnknown } from '../problems.ts';
import { type StepPast, stepPageView } from './view.ts';

const UNKNOWN = {
  status: 404,
  title: 'There is no such step',
  text: 'No step of this name is in the library or in a pipeline, and none ever ran. It may have been renamed, or its file has an error that keeps it from loading.',
  action: { href: paths.steps(), label: 'All steps' },
};

/** A step with its history: from the library, from pipelines only, or no longer defined. */
export function registerSteps(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/steps/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!NAME_PATTERN.test(name)) return sendProblem(context, request, reply, UNKNOWN);
    const past = await unlessBusy(pastOf(deps, name, request.signal));
    const around = { rule: deps.history.rule, now: deps.now() };
    const model = stepPageView(name, deps.definitions.snapshot(), past, around);
    if (model === null) return sendProblem(context, request, reply, UNKNOWN);
    return sendPage(context, request, reply, { title: name, nav: 'steps', template: 'step', model });
  });
}

async function pastOf({ history, statistics }: PageDeps, name: string, signal: AbortSignal): Promise<StepPast> {
  const versions = await history.promptVersions(name, signal).catch(unlessUnknown);
  if (versions === null) return { versions, buckets: [], stats: null, models: null };
  const [buckets, stats, models] = await Promise.all([
    history.calibration(name, {}, signal),
    unlessBusy(statistics.step(name, SUMMARY, signal)),
    unlessBusy(statistics.stepModels(name, SUMMARY, signal)),
  ]);
  return { versions, buckets, stats, models };
}
