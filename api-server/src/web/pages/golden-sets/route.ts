import { AppError } from '@signalbox/crds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { idOf } from '../../../service/fields.ts';
import { MemberNote, NewGoldenSet } from '../../../service/golden-sets/golden-sets.ts';
import { operatorOf } from '../operator.ts';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { pageIn } from '../portion.ts';
import { problemOf } from '../problems.ts';
import { agentsOf, agentStepNames } from './agent-steps.ts';
import { registerPin } from './pin-route.ts';
import { reportView } from './report.ts';
import { goldenSetPage } from './set-view.ts';
import { EMPTY_FORM, goldenSetsView, type NewSetForm } from './view.ts';

const SetId = idOf('golden set');
const MemberId = idOf('member');
const RegressionId = idOf('regression');
/** Throws `not_found` for what is no id. */
const setIdOf = (request: FastifyRequest): string => SetId.parse((request.params as { id: string }).id);
const formOf = (request: FastifyRequest): Record<string, unknown> => (request.body ?? {}) as Record<string, unknown>;
const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** `/ui/golden-sets`: curation of pinned executions (Orchestration 2.11, 4.6). */
export function registerGoldenSets(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  registerPin(app, context);
  registerChanges(app, context);

  app.get('/ui/golden-sets', (request, reply) => sendList(context, request, reply, EMPTY_FORM));

  app.get('/ui/golden-sets/:id', async (request, reply) => {
    const id = setIdOf(request);
    const [set, replays] = await Promise.all([deps.goldenSets.get(id), deps.regressions.ofSet(id)]);
    const model = goldenSetPage(set, replays, {
      operator: mayOperate(deps.auth.viewer(request)),
      page: pageIn(request.query),
      agents: agentsOf(deps.definitions.snapshot(), set.step_name),
    });
    return sendPage(context, request, reply, { title: set.name, nav: 'golden-sets', template: 'golden-set', model });
  });

  app.get('/ui/regressions/:id', async (request, reply) => {
    const report = await deps.regressions.report(RegressionId.parse((request.params as { id: string }).id));
    const model = reportView(report);
    const title = `Replay of ${report.golden_set}`;
    return sendPage(context, request, reply, { title, nav: 'golden-sets', template: 'golden-report', model });
  });

  app.get('/ui/golden-sets/:id/export', async (request, reply) => {
    const { name, text } = await deps.goldenSets.exportFile(setIdOf(request));
    return reply
      .header('content-type', 'application/x-ndjson; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}.jsonl"`)
      .header('cache-control', 'no-store')
      .send(Buffer.from(text));
  });
}

function registerChanges(app: FastifyInstance, context: PageContext): void {
  const { goldenSets } = context.deps;

  app.post('/ui/golden-sets', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const entered = enteredIn(formOf(request));
    const parsed = NewGoldenSet.safeParse(entered);
    if (!parsed.success) return sendList(context, request, reply, { entered, problem: firstProblem(parsed.error) });
    try {
      const { id } = await goldenSets.create(parsed.data, by);
      return await reply.redirect(paths.goldenSet(id), 303);
    } catch (error) {
      if (!(error instanceof AppError) || error.type !== 'collision') throw error;
      return sendList(context, request, reply, { entered, problem: { field: 'name', msg: error.message } });
    }
  });

  app.post('/ui/golden-sets/import', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    try {
      const { jsonl, overwrite } = formOf(request);
      const { id } = await goldenSets.importFile({ jsonl: textOf(jsonl), overwrite: overwrite === 'true' }, by);
      return await reply.redirect(paths.goldenSet(id), 303);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const action = { href: paths.goldenSets(), label: 'Back to the golden sets' };
      return sendProblem(context, request, reply, { ...problemOf(error), action });
    }
  });

  for (const change of ['archive', 'restore'] as const) {
    app.post(`/ui/golden-sets/:id/${change}`, async (request, reply) => {
      const by = await operatorOf(context, request, reply);
      if (by === null) return reply;
      await goldenSets.archive(setIdOf(request), change === 'archive', by);
      return reply.redirect(paths.goldenSet(setIdOf(request)), 303);
    });
  }

  app.post('/ui/golden-sets/:id/members/:member', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const member = MemberId.parse((request.params as { member: string }).member);
    const form = formOf(request);
    if (form['change'] === 'remove') await goldenSets.remove(setIdOf(request), member, by);
    else await goldenSets.note(setIdOf(request), member, noteIn(form), by);
    return reply.redirect(paths.goldenSet(setIdOf(request)), 303);
  });
}

function noteIn(form: Record<string, unknown>): string | null {
  const { data, error } = MemberNote.safeParse({ note: textOf(form['note']) });
  if (error) throw new AppError('validation', `the note ${error.issues[0]?.message ?? 'is not valid'}`);
  return data.note;
}

const enteredIn = (form: Record<string, unknown>): NewSetForm['entered'] => ({
  name: textOf(form['name']),
  step_name: textOf(form['step_name']),
  description: textOf(form['description']),
});

function firstProblem({
  issues: [issue],
}: {
  issues: { path: PropertyKey[]; message: string }[];
}): NewSetForm['problem'] {
  const field = issue?.path[0];
  const known = field === 'name' || field === 'step_name' ? field : null;
  return { field: known, msg: known === null ? `${String(field)}: ${issue?.message}` : (issue?.message ?? '') };
}

async function sendList(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  form: NewSetForm,
): Promise<FastifyReply> {
  const { deps } = context;
  const { golden_sets: sets } = await deps.goldenSets.list();
  const schedules = await deps.regressions.schedules();
  const model = goldenSetsView({
    sets,
    schedules,
    steps: agentStepNames(deps.definitions.snapshot()),
    operator: mayOperate(deps.auth.viewer(request)),
    form,
  });
  return sendPage(context, request, reply, {
    title: 'Golden sets',
    nav: 'golden-sets',
    template: 'golden-sets',
    model,
    status: form.problem === null ? 200 : 400,
  });
}
