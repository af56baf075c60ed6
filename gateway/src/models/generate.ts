import type { Cooldowns } from './cooldowns.ts';
import { describeFailure, type ModelFailure, UnwritableRequest } from './failure.ts';
import type { ChatModel, ModelCall, ModelReply, ModelUsage } from './model.ts';
import { promptFor } from './own-turns.ts';
import type { ModelRoute } from './route.ts';
import type { RunSpan } from '../observability/span.ts';

/** A model call with its fallbacks, in the order in which they are tried. */
export interface GenerateRequest {
  /** Belongs to the run: the model that answers is put first, so that the run stays with it. */
  models: string[];
  call: ModelCall;
}

export interface GenerateOptions {
  signal: AbortSignal;
  /** The span of the run; its context is sent to self-hosted providers. */
  span?: RunSpan | undefined;
  onText?: ((delta: string) => void) | undefined;
  onRetry: (retry: { model: string; provider: string; attempt: number; delay_ms: number; reason: string }) => void;
  onFallback: (fallback: { from: string; to: string; reason: string }) => void;
}

export interface GenerateDeps {
  route: (model: string) => ModelRoute | null;
  open: (route: ModelRoute) => Promise<ChatModel | null>;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  random: () => number;
  requestTimeoutMs: number;
  cooldowns: Pick<Cooldowns, 'rests' | 'begin' | 'end'>;
  /** Removes secrets from a provider's message. */
  conceal: (text: string) => string;
  /** Called once for every request to a provider. */
  onRequest: (request: {
    provider: string;
    model: string;
    outcome: 'ok' | 'error' | 'timeout' | 'cancelled';
    seconds: number;
    usage: ModelUsage | null;
  }) => void;
}

/** `route` names the provider by its configured name and the model as requested, without prefix. */
export type Generated = ({ ok: true; reply: ModelReply; route: ModelRoute } | { ok: false; failure: ModelFailure }) & {
  /** What answers that could not be used have cost before this one. */
  lost?: Lost[];
};

export interface Lost {
  route: ModelRoute;
  usage: ModelUsage;
}

const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 20_000;

/**
 * Asks the first model that answers: each is retried on 429, 5xx and broken answers, then the next one is tried. Models that rest
 * after failures are tried last. Resolves with the last failure when none answers; rejects only when `signal` aborts.
 */
export async function generate(
  request: GenerateRequest,
  options: GenerateOptions,
  deps: GenerateDeps,
): Promise<Generated> {
  const lost: Lost[] = [];
  const withLost = (generated: Generated): Generated => (lost.length > 0 ? { ...generated, lost } : generated);
  let failure: ModelFailure = { message: 'no model is configured', retryable: false, status: null, retryAfterMs: null };
  const { models } = request;
  const order = restedLast(models, deps);
  const [first, instead] = [models[0], order[0]];
  if (first !== undefined && instead !== undefined && first !== instead)
    options.onFallback({ from: first, to: instead, reason: 'it failed several times in a row and rests' });
  for (const [index, name] of order.entries()) {
    const next = order[index + 1];
    const result = await askModel(name, request.call, options, {
      ...deps,
      hasNext: next !== undefined,
      onLost: (route, usage) => lost.push({ route, usage }),
    });
    if (result.ok) {
      models.unshift(...models.splice(models.indexOf(name)));
      return withLost(result);
    }
    failure = result.failure;
    if (next !== undefined) options.onFallback({ from: name, to: next, reason: failure.message });
  }
  return withLost({ ok: false, failure });
}

function restedLast(models: readonly string[], { route, cooldowns }: GenerateDeps): string[] {
  const rests = (name: string) => {
    const to = route(name);
    return to !== null && cooldowns.rests(to);
  };
  const resting = new Set(models.filter(rests));
  return [...models.filter((name) => !resting.has(name)), ...resting];
}

type AskDeps = GenerateDeps & { hasNext: boolean; onLost: (route: ModelRoute, usage: ModelUsage) => void };

async function askModel(name: string, call: ModelCall, options: GenerateOptions, deps: AskDeps): Promise<Generated> {
  const opened = await openModel(name, deps);
  if (!opened.ok) return opened;
  const { route, model } = opened;
  for (let attempt = 1; ; attempt++) {
    const result = await askOnce({ route, model }, call, options, deps);
    if (result.ok) return result;
    const { failure } = result;
    if (failure.usage) deps.onLost(route, failure.usage);
    // A model that rests is not asked again where another one is left.
    const isLeft = result.isLast || (deps.hasNext && deps.cooldowns.rests(route));
    const delayMs = isLeft ? null : delayAfter(failure, attempt, deps.random());
    if (delayMs === null) return { ok: false, failure };
    options.onRetry({
      model: route.model,
      provider: route.provider,
      attempt,
      delay_ms: delayMs,
      reason: failure.message,
    });
    await deps.sleep(delayMs, options.signal);
  }
}

type Opened = { ok: true; route: ModelRoute; model: ChatModel } | { ok: false; failure: ModelFailure };

async function openModel(name: string, deps: GenerateDeps): Promise<Opened> {
  const route = deps.route(name);
  if (!route) return { ok: false, failure: permanent(`"${name}" maps to no configured provider`) };
  const model = await deps.open(route);
  return model
    ? { ok: true, route, model }
    : { ok: false, failure: permanent(`provider "${route.provider}" has no credentials`) };
}

/** `isLast`: this model is not asked again, although a later call may succeed. */
type Attempt = Extract<Generated, { ok: true }> | { ok: false; failure: ModelFailure; isLast?: boolean };

async function askOnce(
  target: { route: ModelRoute; model: ChatModel },
  call: ModelCall,
  options: GenerateOptions,
  deps: GenerateDeps,
): Promise<Attempt> {
  const { route, model } = target;
  options.signal.throwIfAborted();
  const started = performance.now();
  const abort = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    abort.abort();
  }, deps.requestTimeoutMs);
  const cancel = () => abort.abort(options.signal.reason);
  options.signal.addEventListener('abort', cancel, { once: true });
  deps.cooldowns.begin(route);
  const report = (outcome: 'ok' | 'error' | 'timeout' | 'cancelled', usage: ModelUsage | null) =>
    deps.onRequest({
      provider: route.provider,
      model: route.model,
      outcome,
      seconds: (performance.now() - started) / 1000,
      usage,
    });
  try {
    const reply = await model.generate(
      { ...call, prompt: promptFor(route, call.prompt) },
      {
        signal: abort.signal,
        onText: options.onText,
        traceContext: options.span?.context,
      },
    );
    report('ok', reply.usage);
    deps.cooldowns.end(route, 'answered');
    return { ok: true, reply, route };
  } catch (error) {
    if (options.signal.aborted) {
      report(isTimeout(options.signal.reason) ? 'timeout' : 'cancelled', null);
      // The run's deadline is its author's, so it says nothing of the model.
      deps.cooldowns.end(route, 'unknown');
    }
    options.signal.throwIfAborted();
    const failure = describeFailure(error);
    deps.cooldowns.end(route, timedOut ? 'failed' : saidBy(error, failure));
    report(timedOut ? 'timeout' : 'error', failure.usage ?? null);
    // A model that timed out is not asked again in this call; the next one is.
    if (timedOut) {
      const message = `no answer within ${deps.requestTimeoutMs / 1000} s`;
      return { ok: false, isLast: true, failure: { ...permanent(message), retryable: true } };
    }
    return { ok: false, failure: { ...failure, message: deps.conceal(failure.message) } };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', cancel);
  }
}

function saidBy(error: unknown, { retryable }: ModelFailure): 'answered' | 'failed' | 'unknown' {
  if (error instanceof UnwritableRequest) return 'unknown';
  return retryable ? 'failed' : 'answered';
}

/** A run that reached its deadline counts as a timeout of the provider; a cancelled run does not. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && 'type' in reason && reason.type === 'timeout';
}

/** How long to wait before the model is asked again; null where it is not. */
function delayAfter({ retryable, retryAfterMs }: ModelFailure, attempt: number, random: number): number | null {
  if (!retryable || attempt >= MAX_ATTEMPTS) return null;
  const delayMs = retryAfterMs ?? Math.round(FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.75 + random / 2));
  return delayMs > MAX_DELAY_MS ? null : delayMs;
}

function permanent(message: string): ModelFailure {
  return { message, retryable: false, status: null, retryAfterMs: null };
}
