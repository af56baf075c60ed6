import type { Author } from '../../definitions/tenants.ts';
import { authorOf } from '../state/active-run.ts';
import { failure, type HttpCall, type AuthorHttp, type HttpReply } from '../state/executor.ts';
import { noteMissing, refuseBlanks } from '../prompt/blanks.ts';
import { oneAtATime } from '../prompt/one-at-a-time.ts';
import { type PipelineEnv, type Rendering, textRoom } from '../prompt/rendering.ts';
import { charsOf, parseBody, renderRequest } from '../prompt/request.ts';
import { runValues } from '../prompt/run-values.ts';
import {
  noFacts,
  type Answer,
  type Attempt,
  type CallFacts,
  type Performed,
  plainAnswer,
  type StepKind,
  type Unread,
} from '../state/step-kind.ts';
import { enterCall } from '../state/open-calls.ts';
import { shownUrl, type TriedRequest } from '../state/step-parts.ts';
import type { AnyStep, StepContext } from '../state/step-context.ts';
import { ownerOf, type Templates } from '../prompt/templates.ts';

export interface WebhookStepDeps {
  http: AuthorHttp;
  templates: Templates;
  env: PipelineEnv;
  now(): number;
}

/** A step that calls a URL; its answer has no confidence, so it passes no gate and fails none. */
export function webhookStep(deps: WebhookStepDeps): StepKind {
  return {
    prepare: async (ctx) => {
      const step = ctx.step as Extract<AnyStep, { executor: 'webhook' }>;
      const request = await oneAtATime(ctx.run, () => renderRequest(step, renderingOf(deps, ctx)));
      if (!request.ok) return request;
      const refused = refuseBlanks(ctx);
      if (refused) return refused;
      return {
        ok: true,
        agent: null,
        model: null,
        promptHash: null,
        raw: null,
        sends: charsOf(request.value),
        perform: (attempt) => send(deps, { ...request.value, ...authorOf(ctx.run) }, { attempt, run: ctx.run }),
      };
    },
  };
}

/** A function of its own: nothing holds the values while the server does not answer. */
function renderingOf({ templates, env, now }: WebhookStepDeps, ctx: StepContext): Rendering {
  const values = runValues(ctx.run, now(), ctx.locals);
  return {
    templates,
    env,
    values,
    missing: noteMissing('the request', ctx),
    owner: ownerOf(ctx.run),
    room: textRoom(),
  };
}

type Request = Omit<HttpCall, 'signal'> & Author;

interface Sending {
  attempt: Attempt;
  run: StepContext['run'];
}

async function send(deps: WebhookStepDeps, request: Request, { attempt, run }: Sending): Promise<Performed | Unread> {
  const { signal } = attempt;
  const headers = { ...request.headers, 'idempotency-key': attempt.idempotencyKey };
  using _ = await enterCall(run, signal);
  const reply = await deps.http({ ...request, headers, signal });
  const tried = {
    method: request.method,
    url: shownUrl(request.url, deps.env.mask),
    status: reply.ok ? reply.status : null,
  };
  if (!reply.ok) return { ...reply, message: deps.env.mask(reply.message), request: tried };
  return { chars: reply.body.length, request: tried, read: () => readReply(reply, deps.env, tried) };
}

function readReply(reply: HttpReply, env: PipelineEnv, request: TriedRequest): Performed {
  const facts = toFacts(reply, env);
  if (reply.status >= 200 && reply.status < 300) return { ok: true, answer: toAnswer(reply, env), facts, request };
  const retryable = reply.status === 429 || reply.status >= 500;
  return { ...failure('webhook_status', `the webhook answered ${reply.status}`, retryable), facts, request };
}

function toAnswer(reply: HttpReply, env: PipelineEnv): Answer {
  const output = { status: reply.status, body: parseBody(env.mask(reply.body)) };
  return plainAnswer({ confidence: null, summary: `answered ${reply.status}`, output });
}

const toFacts = (reply: HttpReply, env: PipelineEnv): CallFacts =>
  noFacts({ http: { status: reply.status, body: env.mask(reply.body) } });
