import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths, safeReturn } from '../paths.ts';
import type { RerunOutcome } from '../page-deps.ts';
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
  text: 'Marking, cancelling and running again need a token with the role operator or admin. Log out and log in with one.',
};
const NO_ARTIFACT = {
  status: 404,
  title: 'There is no such artifact',
  text: 'Artifacts are kept for a time; this one is gone, or was never there.',
  action: { href: paths.runs(), label: 'All runs' },
};
const BAD_MARK = {
  status: 400,
  title: 'This mark is not one of the three',
  text: 'A mark is correct, partial or incorrect.',
};
const NO_RESULT_YET = {
  status: 409,
  title: 'This step is still running',
  text: 'It has no result to judge yet. Nothing was marked; try again when it has ended.',
};

interface RunParams {
  id: string;
}
const idOf = (request: FastifyRequest): string => (request.params as RunParams).id;
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

/** `/ui/runs/{id}` with its forms and texts; the stream beside it is the HTTP side's route. */
export function registerRun(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const layout = createLayout();
  registerResults(app, context);

  app.get('/ui/runs/:id', async (request, reply) => {
    const id = idOf(request);
    const run = await deps.runDetail(id);
    if (run === null) return sendProblem(context, request, reply, NO_RUN);
    const query = request.query as Record<string, unknown>;
    const step = textOf(query['step']);
    const tab = asTab(query['tab']);
    // Without a step, the log is that of the whole run.
    const wholeLog = query['view'] === 'log' || (step === null && tab === 'log');
    const [definition, log] = await Promise.all([
      deps.runDefinition(id),
      tab === 'log' || wholeLog ? deps.runLog(id) : [],
    ]);
    const { approvals } = await deps.listApprovals({ run: id, limit: 200, offset: 0 });
    const model = runView({
      run,
      definition,
      log,
      approvals,
      step,
      tab: step === null && tab === 'log' ? 'evidence' : tab,
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
    if (done === 'running') return sendProblem(context, request, reply, NO_RESULT_YET);
    const ofRun = paths.run(idOf(request), { step: stepName, tab: textOf(form['tab']) });
    return reply.redirect(form['next'] === undefined ? ofRun : safeReturn(form['next']), 303);
  });

  app.post('/ui/runs/:id/cancel', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const done = await deps.cancelRun(idOf(request), by, request.id);
    if (done === 'not_found') return sendProblem(context, request, reply, NO_RUN);
    return reply.redirect(paths.run(idOf(request)), 303);
  });
}

const artifactName = (name: string): string => name.replace(/[^\w.-]+/g, '_').slice(0, 120) || 'artifact';

const ended = (status: number, title: string, text: string) => ({ status, title, text });

/** Why a run was not started again, and what to do about it. */
function whyNoRerun(outcome: Exclude<RerunOutcome, { kind: 'started' | 'not_found' }>) {
  switch (outcome.kind) {
    case 'running':
      return ended(
        409,
        'This run has not ended yet',
        'Cancel it first, or wait until it has ended; then run it again.',
      );
    case 'suspended':
      return ended(409, 'The pipeline is suspended', 'No run of it starts until it is resumed.');
    case 'at_capacity':
      return ended(429, 'There is no room for this run now', `Nothing was started: ${outcome.message}.`);
    case 'invalid':
      return ended(400, 'This run cannot be repeated from there', `Nothing was started: ${outcome.message}.`);
    default:
      return outcome satisfies never;
  }
}

/** A rerun and the texts that steps left. */
function registerResults(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.post('/ui/runs/:id/rerun', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const runId = idOf(request);
    const fromStep = textOf((request.body as Record<string, unknown> | undefined)?.['from_step']);
    const outcome = await deps.rerun({ runId, fromStep, by, requestId: request.id });
    if (outcome.kind === 'started') return reply.redirect(paths.run(outcome.runId), 303);
    if (outcome.kind === 'not_found') return sendProblem(context, request, reply, NO_RUN);
    const action = { href: paths.run(runId), label: 'Back to the run' };
    return sendProblem(context, request, reply, { ...whyNoRerun(outcome), action });
  });

  app.get('/ui/runs/:id/artifacts', async (request, reply) => {
    const { step, name } = request.query as Record<string, unknown>;
    const known =
      typeof step === 'string' && typeof name === 'string' && (await deps.runDetail(idOf(request))) !== null;
    const found = known ? await deps.artifact(idOf(request), step, name) : null;
    if (found === null || !known) return sendProblem(context, request, reply, NO_ARTIFACT);
    // A download, whatever the agent wrote: nothing an agent says is rendered by a browser.
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('content-disposition', `attachment; filename="${artifactName(name)}.txt"`)
      .header('cache-control', 'no-store')
      .send(found);
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
