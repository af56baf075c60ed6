import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { STALE_FORM } from '../session/route.ts';
import { createLayout } from './layout.ts';
import { isOutcome } from './mark.ts';
import { asTab } from './step-panel.ts';
import { runView } from './view.ts';

const NO_RUN = {
  status: 404,
  title: 'There is no such run',
  text: 'The id may be mistyped, or the run is older than what this service keeps.',
  action: { href: paths.runs(), label: 'All runs' },
};
const NOT_ALLOWED = {
  status: 403,
  title: 'Your token may only look',
  text: 'Marking and cancelling need a token with the role operator or admin. Log out and log in with one.',
};
const BAD_MARK = {
  status: 400,
  title: 'This mark is not one of the three',
  text: 'A mark is correct, partial or incorrect.',
};

interface RunParams {
  id: string;
}
const idOf = (request: FastifyRequest): string => (request.params as RunParams).id;
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

/** `/ui/runs/{id}` with its two forms; the stream beside it is the HTTP side's route. */
export function registerRun(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const layout = createLayout();

  app.get('/ui/runs/:id', async (request, reply) => {
    const id = idOf(request);
    const run = await deps.runDetail(id);
    if (run === null) return sendProblem(context, request, reply, NO_RUN);
    const query = request.query as Record<string, unknown>;
    const tab = asTab(query['tab']);
    const [definition, log] = await Promise.all([deps.runDefinition(id), tab === 'log' ? deps.runLog(id) : []]);
    const { approvals } = await deps.listApprovals({ run: id, limit: 200, offset: 0 });
    const model = runView({
      run,
      definition,
      log,
      approvals,
      step: textOf(query['step']),
      tab,
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
    if (!isOutcome(outcome)) return sendProblem(context, request, reply, BAD_MARK);
    const stepName = textOf(form['step']);
    const done = await deps.giveFeedback({
      runId: idOf(request),
      stepName,
      outcome,
      notes: textOf(form['notes'])?.slice(0, 4000) ?? null,
      by,
    });
    if (done === 'not_found') return sendProblem(context, request, reply, NO_RUN);
    return reply.redirect(paths.run(idOf(request), { step: stepName, tab: textOf(form['tab']) }), 303);
  });

  app.post('/ui/runs/:id/cancel', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const done = await deps.cancelRun(idOf(request), by);
    if (done === 'not_found') return sendProblem(context, request, reply, NO_RUN);
    return reply.redirect(paths.run(idOf(request)), 303);
  });
}

/** The operator behind a posted form, or null after the refusal was sent. */
async function operatorOf(context: PageContext, request: FastifyRequest, reply: FastifyReply) {
  const { auth } = context.deps;
  if (!auth.mayPost(request)) {
    await sendProblem(context, request, reply, STALE_FORM);
    return null;
  }
  const viewer = auth.viewer(request);
  if (viewer !== null && mayOperate(viewer)) return viewer;
  await sendProblem(context, request, reply, NOT_ALLOWED);
  return null;
}
