import type { FastifyInstance, FastifyRequest } from 'fastify';
import { operatorOf } from '../operator.ts';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { problemOf, unlessConflict, unlessUnknown } from '../problems.ts';
import { unknownId } from '../../../service/fields.ts';
import { AppError } from '@signalbox/crds';
import { paths, safeReturn } from '../paths.ts';
import { registerAttention } from './attention/route.ts';
import { createLayout } from './graph/layout.ts';
import { isOutcome, WITHDRAW } from './step/mark.ts';
import { asTab } from './step-panel.ts';
import { runView } from './view.ts';

const NO_RUN = {
  status: 404,
  title: 'There is no such run',
  text: 'The id may be mistyped, or the run is older than what this service keeps.',
  action: { href: paths.runs(), label: 'All runs' },
};
const BAD_MARK = {
  status: 400,
  title: 'This mark is not one of the three',
  text: 'A mark is correct, partial or incorrect.',
};

const runIdOf = (request: FastifyRequest): string => (request.params as { id: string }).id;
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

/** `/ui/runs/{id}` with its forms and artifacts. Its live stream is in `web/routes`. */
export function registerRun(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const layout = createLayout();
  registerResults(app, context);
  registerAttention(app, context);

  app.get('/ui/runs/:id', async (request, reply) => {
    const id = runIdOf(request);
    const run = await deps.runs.get(id).catch(unlessUnknown);
    if (run === null) return sendProblem(context, request, reply, NO_RUN);
    const query = request.query as Record<string, unknown>;
    const step = textOf(query['step']);
    const tab = asTab(query['tab']);
    // Without a step, the log is that of the whole run.
    const wholeLog = query['view'] === 'log' || (step === null && tab === 'log');
    const [definition, log] = await Promise.all([deps.runs.definition(id), deps.runs.log(id, 0)]);
    const { approvals, total } = await deps.approvals.list({ run: id, limit: 200, offset: 0 });
    const model = runView({
      run,
      definition,
      log,
      approvals,
      approvalsTotal: total,
      step,
      tab: step === null && tab === 'log' ? 'evidence' : tab,
      zoomed: step !== null && query['zoom'] === 'step',
      wholeLog,
      viewer: deps.auth.viewer(request),
      now: deps.now(),
      currency: deps.currency,
      layout,
    });
    return sendPage(context, request, reply, { title: model.title, nav: 'runs', template: 'run', model });
  });

  app.post('/ui/runs/:id/feedback', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const form = (request.body ?? {}) as Record<string, unknown>;
    const { outcome } = form;
    const stepName = textOf(form['step']);
    const id = runIdOf(request);
    const { feedback } = deps;
    if (outcome === WITHDRAW) {
      const gone = stepName === null ? feedback.withdrawRunMark(id, by) : feedback.withdrawStepMark(id, stepName, by);
      // A mark that was withdrawn meanwhile is not there, which is what was asked.
      await gone.catch(unlessUnknown);
    } else if (isOutcome(outcome)) {
      const mark = { outcome, notes: textOf(form['notes'])?.slice(0, 4000) ?? null };
      await (stepName === null ? feedback.markRun(id, mark, by) : feedback.markStep(id, stepName, mark, by));
    } else return sendProblem(context, request, reply, BAD_MARK);
    const ofRun = paths.run(id, { step: stepName, tab: textOf(form['tab']) });
    return reply.redirect(form['next'] === undefined ? ofRun : safeReturn(form['next']), 303);
  });

  app.post('/ui/runs/:id/messages', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const { id: message, action } = (request.body ?? {}) as Record<string, unknown>;
    const change = action === 'dismiss' ? deps.notifications.dismiss : deps.notifications.resend;
    // A message that was sent meanwhile is shown as it is.
    await change(String(message), by).catch(unlessConflict);
    return reply.redirect(`${paths.run(runIdOf(request))}#messages`, 303);
  });

  app.post('/ui/runs/:id/cancel', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const id = runIdOf(request);
    // A run that has ended meanwhile is shown as it is.
    await deps.runs.cancel(id, by).catch(unlessConflict);
    return reply.redirect(paths.run(id), 303);
  });
}

const artifactName = (name: string): string => name.replace(/[^\w.-]+/g, '_').slice(0, 120) || 'artifact';

/** Reruns and artifacts. */
function registerResults(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.post('/ui/runs/:id/rerun', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const runId = runIdOf(request);
    const fromStep = textOf((request.body as Record<string, unknown> | undefined)?.['from_step']);
    try {
      const { run_id: started } = await deps.runs.rerun(runId, fromStep, by);
      return await reply.redirect(paths.run(started), 303);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const action = { href: paths.run(runId), label: 'Back to the run' };
      return sendProblem(context, request, reply, { ...problemOf(error), action });
    }
  });

  app.get('/ui/runs/:id/artifacts', async (request, reply) => {
    const { step, name } = request.query as Record<string, unknown>;
    if (typeof step !== 'string' || typeof name !== 'string') throw unknownId('run');
    const found = await deps.runs.artifact(runIdOf(request), step, name);
    // Always a download as plain text: a browser must not render what an agent wrote.
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('content-disposition', `attachment; filename="${artifactName(name)}.txt"`)
      .header('cache-control', 'no-store')
      .send(found);
  });
}
