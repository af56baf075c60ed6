import type { Failure, HttpCall, HttpExecutor, HttpReply } from './executor.ts';
import { renderJson, renderText, requestHeaders, type PipelineEnv, type Rendering } from './rendering.ts';
import { runValues } from './run-values.ts';
import { noFacts, type Answer, type Attempt, type CallFacts, type Performed, type StepKind } from './step-kind.ts';
import type { AnyStep, Site } from './step-rows.ts';
import type { Texts } from './texts.ts';

export interface WebhookStepDeps {
  http: HttpExecutor;
  texts: Texts;
  env: PipelineEnv;
  now(): number;
}

/** A step that calls a URL; its answer has no confidence, so it passes no gate and fails none (Design 3). */
export function webhookStep(deps: WebhookStepDeps): StepKind {
  return {
    prepare: (site) => {
      const request = renderRequest(deps, site);
      if (!request.ok) return request;
      return {
        ok: true,
        agent: null,
        model: null,
        promptHash: null,
        raw: null,
        perform: (attempt) => send(deps, request.value, attempt),
      };
    },
  };
}

type Request = Omit<HttpCall, 'signal'>;

function renderRequest(
  deps: WebhookStepDeps,
  { run, step: declared, locals }: Site,
): { ok: true; value: Request } | Failure {
  const step = declared as Extract<AnyStep, { executor: 'webhook' }>;
  const rendering: Rendering = { texts: deps.texts, env: deps.env, values: runValues(run, deps.now(), locals) };
  const url = renderText(step.url, rendering, encodeURIComponent);
  if (!url.ok) return url;
  const headers = renderJson(step.headers, rendering);
  if (!headers.ok) return headers;
  const payload = renderJson(step.payload ?? null, rendering);
  if (!payload.ok) return payload;
  const body = bodyOf(payload.value, step.method);
  return {
    ok: true,
    value: { url: url.value, method: step.method, headers: requestHeaders(headers.value, body), body },
  };
}

function bodyOf(payload: unknown, method: string): string | null {
  if (payload === null || method === 'GET' || method === 'HEAD') return null;
  return typeof payload === 'string' ? payload : JSON.stringify(payload);
}

async function send(deps: WebhookStepDeps, request: Request, attempt: Attempt): Promise<Performed> {
  const headers = { ...request.headers, 'idempotency-key': attempt.idempotencyKey };
  const reply = await deps.http({ ...request, headers, signal: attempt.signal });
  if (!reply.ok) return { ...reply, message: deps.env.mask(reply.message) };
  const facts = toFacts(reply, deps.env);
  if (reply.status >= 200 && reply.status < 300) return { ok: true, answer: toAnswer(reply, deps.env), facts };
  const retryable = reply.status === 429 || reply.status >= 500;
  return { ok: false, type: 'webhook_status', message: `the webhook answered ${reply.status}`, retryable, facts };
}

function toAnswer(reply: HttpReply, env: PipelineEnv): Answer {
  return {
    confidence: null,
    summary: `answered ${reply.status}`,
    output: { status: reply.status, body: parseBody(env.mask(reply.body)) },
    nextStepContext: null,
    proceed: true,
    proceedReason: null,
    artifacts: [],
  };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const toFacts = (reply: HttpReply, env: PipelineEnv): CallFacts =>
  noFacts({ http: { status: reply.status, body: env.mask(reply.body) } });
