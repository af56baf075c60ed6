import type { Step } from '@signalbox/crds';
import { withDeadline } from '../state/deadline.ts';
import { enterCall } from '../state/open-calls.ts';
import { stopReason } from '../state/stopped.ts';
import { authorOf } from '../state/active-run.ts';
import type { AuthorHttp, Failure } from '../state/executor.ts';
import { noteMissing } from '../prompt/blanks.ts';
import { oneAtATime } from '../prompt/one-at-a-time.ts';
import { type PipelineEnv, type Rendering, textRoom } from '../prompt/rendering.ts';
import { charsOf, renderRequest } from '../prompt/request.ts';
import { runValues } from '../prompt/run-values.ts';
import type { StepError } from '../state/model.ts';
import type { PromptRoom } from '../state/prompt-room.ts';
import { shownUrl, type TriedRequest } from '../state/step-parts.ts';
import type { StepContext } from '../state/step-context.ts';
import { ownerOf, type Templates } from '../prompt/templates.ts';
import type { Times } from './step-times.ts';

export interface FailureWebhookDeps {
  templates: Templates;
  env: PipelineEnv;
  http: AuthorHttp;
  prompts: PromptRoom;
  now(): number;
}

/** A step, or a group of them. */
interface Failed extends Pick<StepContext, 'run' | 'name' | 'locals'> {
  step: Pick<Step, 'on_failure'>;
}

const TIMEOUT_MS = 10_000;

/** Calls a failed step's `on_failure.webhook` once; what comes of it changes nothing. Null where nothing was sent. */
export async function callFailureWebhook(
  deps: FailureWebhookDeps,
  failed: Failed,
  error: StepError,
): Promise<{ times: Times; request: TriedRequest; error?: string } | null> {
  const { run, name } = failed;
  const request = await renderHook(deps, failed, error);
  if (!request) return null;
  if (!request.ok) return notCalled(run.journal, name, request);
  using held = deps.prompts.hold(run, { raw: null, sends: charsOf(request.value) });
  if (held.refused) return notCalled(run.journal, name, held.refused);
  const startedAt = deps.now();
  const timeout = `no answer within ${TIMEOUT_MS / 1000} s`;
  using deadline = withDeadline({ after: TIMEOUT_MS, why: 'call_timeout', message: timeout });
  using _ = await enterCall(run, deadline.signal);
  const reply = await deps.http({ ...request.value, ...authorOf(run), signal: deadline.signal });
  const { method, url } = request.value;
  const tried = { method, url: shownUrl(url, deps.env.mask), status: reply.ok ? reply.status : null };
  const why = reply.ok ? null : (stopReason(deadline.signal)?.message ?? deps.env.mask(reply.message));
  const outcome = why === null ? `answered ${tried.status}` : `failed: ${why}`;
  note(run.journal, name, `on_failure.webhook ${outcome}`);
  return { times: [startedAt, deps.now()], request: tried, ...(why !== null && { error: why }) };
}

async function renderHook(deps: FailureWebhookDeps, { run, step, name, locals }: Failed, error: StepError) {
  const hook = typeof step.on_failure === 'string' ? undefined : step.on_failure.webhook;
  if (!hook) return null;
  const said = { run_id: run.id, pipeline: run.pipeline.name, step_name: name, error };
  const rendering = (): Rendering => ({
    ...deps,
    values: runValues(run, deps.now(), { ...locals, error }),
    owner: ownerOf(run),
    room: textRoom(),
    missing: noteMissing('on_failure.webhook', { run, name }),
  });
  return oneAtATime(run, () => renderRequest({ ...hook, method: 'POST' }, rendering(), said));
}

function notCalled(journal: StepContext['run']['journal'], name: string, { message }: Failure): null {
  note(journal, name, `on_failure.webhook was not called: ${message}`);
  return null;
}

function note(journal: StepContext['run']['journal'], name: string, message: string): void {
  journal.add('info', 'failure_webhook', message, { step_name: name });
}
