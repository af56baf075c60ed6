import { AppError, ERROR_STATUS } from '@signalbox/crds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DeliveryResult, Given } from '../../../../service/deliveries/deliveries.ts';
import type { Snapshot } from '../../../../service/definitions/definitions.ts';
import { sentence } from '../../format.ts';
import { operatorOf } from '../../operator.ts';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../../page.ts';
import type { PageDeps } from '../../page-deps.ts';
import { paths } from '../../paths.ts';
import { unknownPipeline } from '../unknown.ts';
import { pipelineProblems } from '../view.ts';
import { EMPTY, formWith, fromDelivery, givenBy, readForm, type StartForm } from './form.ts';
import { sampleAlert } from './sample.ts';
import { type From, type StartInput, startView } from './view.ts';

type Pipeline = Snapshot['pipelines'][number];

const OPERATORS_ONLY = {
  status: 403,
  title: 'Your token is read-only',
  text: 'Starting a run requires a token with the role operator or admin. Log out and log in with one.',
};

/** `/ui/pipelines/:name/run`: a dry run and then a run, by hand. */
export function registerStart(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const find = (request: FastifyRequest) =>
    deps.definitions.snapshot().byName.get((request.params as { name: string }).name);

  app.get('/ui/pipelines/:name/run', async (request, reply) => {
    const pipeline = find(request);
    if (pipeline === undefined) return sendProblem(context, request, reply, unknownPipeline(deps, request));
    if (!mayOperate(deps.auth.viewer(request))) return sendProblem(context, request, reply, OPERATORS_ONLY);
    const forms = await formsFor(deps, pipeline, request.signal);
    const asked = (request.query as Record<string, unknown>)['from'];
    const [from, form] = forms.find(([id]) => id === asked) ?? forms[0] ?? ['hand', EMPTY];
    const starts = forms.map(([id]) => id);
    return sendStart(context, request, reply, { ...NOTHING, pipeline, form, from, starts });
  });

  app.post('/ui/pipelines/:name/run', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const pipeline = find(request);
    if (pipeline === undefined) return sendProblem(context, request, reply, unknownPipeline(deps, request));
    const posted = (request.body ?? {}) as Record<string, unknown>;
    const form = readForm(posted);
    const read = givenBy(form);
    const starts = (await formsFor(deps, pipeline, request.signal)).map(([id]) => id);
    const from = starts.find((id) => id === posted['from']) ?? 'hand';
    const page = { ...NOTHING, pipeline, form, from, starts };
    if (!read.ok) return sendStart(context, request, reply, { ...page, problem: read.msg, status: 400 });
    const { given } = read;
    const act = (): Promise<DeliveryResult> =>
      posted['act'] === 'run'
        ? deps.deliveries.runNow(pipeline.name, given, by)
        : deps.deliveries.previewRun(pipeline.name, given);
    const result = await act().catch(refusal);
    if (result instanceof AppError)
      return sendStart(context, request, reply, { ...page, given, problem: sentence(result.message), status: 400 });
    return answer(context, request, reply, { ...page, given, result });
  });
}

const NOTHING = { preview: null, problem: null, given: null, status: 200 };
type Page = StartInput & { status: number };

function refusal(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}

/** Where the form may begin; what was delivered last comes first. */
async function formsFor(
  { keptDeliveries }: PageDeps,
  { name, config }: Pipeline,
  signal: AbortSignal,
): Promise<[From, StartForm][]> {
  const { deliveries } = await keptDeliveries.list({ pipeline: name, limit: 1 }, signal);
  const last = deliveries[0] ? fromDelivery(await keptDeliveries.get(deliveries[0].id)) : null;
  const match = config.trigger?.match;
  const forms: [From, StartForm | null][] = [
    ['delivery', last],
    ['sample', match ? formWith('alert_router', sampleAlert(match)) : null],
    ['hand', EMPTY],
  ];
  return forms.flatMap(([from, form]) => (form === null ? [] : [[from, form]]));
}

const sendStart = (
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, ...page }: Page,
): Promise<FastifyReply> =>
  sendPage(context, request, reply, {
    title: `Run ${page.pipeline.name}`,
    nav: 'pipelines',
    template: 'start',
    model: {
      ...startView(page),
      problems: pipelineProblems(context.deps.definitions.snapshot(), page.pipeline.name),
    },
    status,
  });

/** A started run opens; everything else is said on the form. */
function answer(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { result, ...page }: Page & { result: DeliveryResult; given: Given },
) {
  if (result.kind === 'previewed') {
    const { body } = result;
    const preview = 'would' in body ? body : (body.runs[0] ?? null);
    return sendStart(context, request, reply, { ...page, preview });
  }
  if (result.kind === 'refused') {
    const { type, body } = result;
    return sendStart(context, request, reply, {
      ...page,
      problem: sentence(body.detail.message),
      status: ERROR_STATUS[type],
    });
  }
  const { body } = result;
  if (body.status === 'accepted' || body.status === 'queued') return reply.redirect(paths.run(body.run_id), 303);
  return sendStart(context, request, reply, { ...page, problem: sentence(body.reason) });
}
