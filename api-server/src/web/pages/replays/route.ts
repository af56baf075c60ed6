import { AppError } from '@signalbox/crds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LaunchOptions } from '../../../service/replay/replay.ts';
import { ReplaysQuery } from '../../../service/replay/batches.ts';
import { clientLeft } from '../../client-left.ts';
import { agentStepNames } from '../golden-sets/agent-steps.ts';
import { ignoredIn } from '../list-filters.ts';
import { operatorOf } from '../operator.ts';
import type { PageDeps } from '../page-deps.ts';
import { mayOperate, type PageContext, sendPage } from '../page.ts';
import { paths } from '../paths.ts';
import { candidateIn, type Entered, launchOf, readEntered, setIdIn } from './form.ts';
import { recordedTemplate, replayFormView, unlessUntouched } from './form-view.ts';
import { replaysView } from './list-view.ts';
import { asksAgent, singleSteps } from './chain-form.ts';
import { registerChainForm } from './chain-route.ts';
import { launchOptions, newKey, refusalOf } from './refused.ts';
import { registerReports } from './report-route.ts';
import { pastOf, versionsOf } from './versions-of.ts';

/** `/ui/replays`: batches and the form of a new one (Orchestration 4.6). */
export function registerReplays(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  registerForm(app, context);
  registerChainForm(app, context);
  registerReports(app, context);

  app.get('/ui/replays', async (request, reply) => {
    const query = ReplaysQuery.parse(filtersOf(request.query as Record<string, unknown>));
    const { replays } = await deps.replays.list(query);
    const definitions = deps.definitions.snapshot();
    const model = replaysView({
      batches: replays,
      limit: query.limit,
      step: query.step ?? null,
      steps: agentStepNames(definitions),
      pipelines: definitions.pipelines
        .filter(({ config }) => singleSteps(config).some(asksAgent))
        .map(({ name }) => name),
      isOn: deps.replays.safeAgents.length > 0,
      operator: mayOperate(deps.auth.viewer(request)),
      now: deps.now(),
    });
    const ignored = ignoredIn(request.query as object, query);
    return sendPage(context, request, reply, { title: 'Replays', nav: 'replays', template: 'replays', model, ignored });
  });
}

/** Filters that make no sense are none. */
function filtersOf(query: Record<string, unknown>): Record<string, unknown> {
  const known = { step: query['step'], before: query['before'] };
  return Object.fromEntries(
    Object.entries(known).filter(
      ([key, value]) => value !== undefined && ReplaysQuery.safeParse({ [key]: value }).success,
    ),
  );
}

function registerForm(app: FastifyInstance, context: PageContext): void {
  app.get('/ui/replays/new', async (request, reply) => {
    const entered = readEntered(request.query as Record<string, unknown>);
    if (entered.step === '') return reply.redirect(paths.replays(), 303);
    const { version } = request.query as Record<string, unknown>;
    const known = typeof version === 'string' ? await versionsOf(context.deps, entered.step, request.signal) : [];
    const prompt = known.find(({ prompt_hash: hash }) => hash === version)?.template ?? entered.prompt;
    return sendForm(context, request, reply, { entered: { ...entered, prompt }, problem: null });
  });

  /** Estimates what was entered, or starts it. */
  app.post('/ui/replays/new', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const form = (request.body ?? {}) as Record<string, unknown>;
    const entered = readEntered(form);
    if (form['act'] !== 'start') return sendForm(context, request, reply, { entered, problem: null });
    try {
      const id = await begin(context.deps, entered, launchOptions(form, by, reply));
      return await reply.redirect(paths.replay(id), 303);
    } catch (error) {
      const { status, problem } = refusalOf(error);
      return sendForm(context, request, reply.code(status), { entered, problem });
    }
  });
}

async function begin(deps: PageDeps, sent: Entered, options: LaunchOptions): Promise<string> {
  const versions = await versionsOf(deps, sent.step, options.signal);
  const entered = unlessUntouched(sent, versions);
  const recorded = recordedTemplate(entered, versions);
  const set = setIdIn(entered);
  if (set !== null) return deps.replays.beginOnSet(set, { candidate: candidateIn(entered, recorded) }, options);
  const launch = launchOf(entered, recorded);
  if (!launch.ok) throw new AppError('unprocessable', launch.problem);
  return deps.replays.begin(entered.step, launch.body, options);
}

async function sendForm(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { entered: sent, problem }: { entered: Entered; problem: string | null },
): Promise<FastifyReply> {
  const { deps } = context;
  const signal = clientLeft(reply);
  const operator = mayOperate(deps.auth.viewer(request));
  const [{ versions, buckets }, { golden_sets: all }] = await Promise.all([
    pastOf(deps, sent.step, signal),
    deps.goldenSets.list(),
  ]);
  const entered = unlessUntouched(sent, versions);
  const sets = all.filter(
    ({ step_name: step, archived_at: at, members }) => step === entered.step && at === null && members > 0,
  );
  const { safeAgents } = deps.replays;
  const estimated =
    operator && safeAgents.length > 0
      ? await estimate(deps, entered, { recorded: recordedTemplate(entered, versions), signal })
      : null;
  const model = replayFormView({
    entered,
    versions,
    buckets,
    sets,
    safeAgents,
    models: [...new Set(buckets.flatMap(({ model: name }) => name ?? []))],
    estimate: estimated?.value ?? null,
    problem: problem ?? estimated?.problem ?? null,
    operator,
    key: newKey(),
    currency: deps.currency,
  });
  const title = `Replay ${entered.step}`;
  return sendPage(context, request, reply, {
    title,
    nav: 'replays',
    template: 'replay-new',
    model,
    status: reply.statusCode,
  });
}

/** What it would cost, or why it would not start. */
async function estimate(
  { replays }: PageDeps,
  entered: Entered,
  { recorded, signal }: { recorded: string | null; signal: AbortSignal },
) {
  // Members of a set are executions of the step like others: what those used stands for them.
  const asked = launchOf(
    setIdIn(entered) === null ? entered : { ...entered, samples: 'current', mode: 'rerender' },
    recorded,
  );
  if (!asked.ok) return { value: null, problem: asked.problem };
  try {
    return { value: await replays.estimate(entered.step, asked.body, signal), problem: null };
  } catch (error) {
    return { value: null, problem: refusalOf(error).problem };
  }
}
