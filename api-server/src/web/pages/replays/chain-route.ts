import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type Pipeline } from '@signalbox/crds';
import { clientLeft } from '../../client-left.ts';
import { operatorOf } from '../operator.ts';
import type { PageDeps } from '../page-deps.ts';
import { mayOperate, type PageContext, sendPage } from '../page.ts';
import { paths } from '../paths.ts';
import { chainLaunchOf, type EnteredChain, readChain, templatesOf } from './chain-form.ts';
import { chainFormView } from './chain-form-view.ts';
import { launchOptions, newKey, refusalOf } from './refused.ts';

type Values = Record<string, unknown>;

/** `/ui/replays/range?pipeline=`: the form of a replay of a range of steps (Orchestration 4.6). */
export function registerChainForm(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const loaded = (values: Values): Pipeline | null => {
    const name = values['pipeline'];
    return deps.definitions.snapshot().pipelines.find((one) => one.name === name)?.config ?? null;
  };

  app.get('/ui/replays/range', async (request, reply) => {
    const values = request.query as Values;
    const pipeline = loaded(values);
    if (pipeline === null) return reply.redirect(paths.replays(), 303);
    return sendForm(context, request, reply, { pipeline, entered: readChain(values, pipeline), problem: null });
  });

  /** Estimates what was entered, or starts it. */
  app.post('/ui/replays/range', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const form = (request.body ?? {}) as Values;
    const pipeline = loaded(form);
    if (pipeline === null) return reply.redirect(paths.replays(), 303);
    const entered = readChain(form, pipeline);
    if (form['act'] !== 'start') return sendForm(context, request, reply, { pipeline, entered, problem: null });
    try {
      const launch = chainLaunchOf(entered, templatesOf(pipeline));
      if (!launch.ok) throw new AppError('unprocessable', launch.problem);
      const id = await deps.replays.beginChain(pipeline.name, launch.body, launchOptions(form, by, reply));
      return await reply.redirect(paths.replay(id), 303);
    } catch (error) {
      const { status, problem } = refusalOf(error);
      return sendForm(context, request, reply.code(status), { pipeline, entered, problem });
    }
  });
}

interface Shown {
  pipeline: Pipeline;
  entered: EnteredChain;
  problem: string | null;
}

async function sendForm(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { pipeline, entered, problem }: Shown,
): Promise<FastifyReply> {
  const { deps } = context;
  const operator = mayOperate(deps.auth.viewer(request));
  const { safeAgents } = deps.replays;
  const estimated = operator && safeAgents.length > 0 ? await estimate(deps, entered, { pipeline, reply }) : null;
  const model = chainFormView({
    entered,
    pipeline,
    safeAgents,
    estimate: estimated?.value ?? null,
    problem: problem ?? estimated?.problem ?? null,
    operator,
    key: newKey(),
    currency: deps.currency,
  });
  const title = `Replay steps of ${pipeline.name}`;
  const page = { title, nav: 'replays' as const, template: 'chain-new', model, status: reply.statusCode };
  return sendPage(context, request, reply, page);
}

/** What it would cost, or why it would not start. */
async function estimate(
  { replays }: PageDeps,
  entered: EnteredChain,
  { pipeline, reply }: { pipeline: Pipeline; reply: FastifyReply },
) {
  const asked = chainLaunchOf(entered, templatesOf(pipeline));
  if (!asked.ok) return { value: null, problem: `${asked.problem}.` };
  try {
    return { value: await replays.estimateChain(pipeline.name, asked.body, clientLeft(reply)), problem: null };
  } catch (error) {
    return { value: null, problem: refusalOf(error).problem };
  }
}
