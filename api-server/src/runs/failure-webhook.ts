import type { HttpExecutor } from './executor.ts';
import { renderJson, renderText, requestHeaders, type PipelineEnv, type Rendering } from './rendering.ts';
import { runValues } from './run-values.ts';
import type { Site, StepError } from './step-rows.ts';
import type { Texts } from './texts.ts';

export interface FailureWebhookDeps {
  texts: Texts;
  env: PipelineEnv;
  http: HttpExecutor;
  now(): number;
}

const TIMEOUT_MS = 10_000;

/** Calls a failed step's `on_failure.webhook` once; what comes of it is an event and no more. */
export async function callFailureWebhook(
  deps: FailureWebhookDeps,
  { run, step, name, locals }: Site,
  error: StepError,
): Promise<void> {
  const hook = typeof step.on_failure === 'string' ? undefined : step.on_failure.webhook;
  if (!hook) return;
  const said = { run_id: run.id, pipeline: run.pipeline.name, step_name: name, error };
  const rendering: Rendering = { ...deps, values: runValues(run, deps.now(), { ...locals, error }) };
  const url = renderText(hook.url, rendering, encodeURIComponent);
  const headers = renderJson(hook.headers, rendering);
  const payload = renderJson(hook.payload ?? said, rendering);
  const problem = [url, headers, payload].find((one) => !one.ok);
  if (!url.ok || !headers.ok || !payload.ok) {
    return note(
      run.journal,
      name,
      `on_failure.webhook was not called: ${problem && !problem.ok ? problem.message : ''}`,
    );
  }
  const body = JSON.stringify(payload.value);
  const reply = await deps.http({
    url: url.value,
    method: 'POST',
    headers: requestHeaders(headers.value, body),
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const outcome = reply.ok ? `answered ${reply.status}` : `failed: ${deps.env.mask(reply.message)}`;
  note(run.journal, name, `on_failure.webhook ${outcome}`);
}

function note(journal: Site['run']['journal'], name: string, message: string): void {
  journal.add('info', 'failure_webhook', message, { step_name: name });
}
