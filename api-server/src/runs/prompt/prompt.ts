import { failure, type Failure } from '../state/executor.ts';
import type { RawResponse } from '../state/model.ts';
import type { StepContext } from '../state/step-context.ts';
import { noteMissing } from './rendering.ts';
import { runValues } from './run-values.ts';
import type { Templates } from './templates.ts';

/** Longest prompt after rendering, in bytes of UTF-8. */
const MAX_PROMPT_BYTES = 256 * 1024;

const templateFailure = (message: string) => failure('template_failed', `prompt_template: ${message}`);

/** The prompt with the run's values, and where they stand in it; missing ones are noted in the run. */
export function renderPrompt(
  deps: { templates: Templates; now(): number },
  { run, name, locals }: Pick<StepContext, 'run' | 'name' | 'locals'>,
  step: { prompt_template: string },
): { ok: true; raw: RawResponse } | Failure {
  const compiled = deps.templates.template(step.prompt_template);
  if (!compiled.ok) return templateFailure(compiled.msg);
  const rendered = compiled.template.render(runValues(run, deps.now(), locals));
  if (!rendered.ok) return templateFailure(rendered.msg);
  if (Buffer.byteLength(rendered.text) > MAX_PROMPT_BYTES) {
    const { largest } = rendered;
    const most = largest ? `; most of it is {{${largest.path}}}, ${largest.chars} characters` : '';
    return templateFailure(`the rendered prompt is larger than ${MAX_PROMPT_BYTES} bytes${most}`);
  }
  rendered.missing.forEach(noteMissing('the prompt', { run, name }));
  return { ok: true, raw: { prompt: rendered.text, promptSpans: rendered.spans } };
}
