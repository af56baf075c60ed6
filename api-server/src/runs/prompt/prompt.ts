import type { Failure } from '../state/executor.ts';
import { cutText } from '../state/field-sizes.ts';
import type { RawResponse } from '../state/model.ts';
import type { StepContext } from '../state/step-context.ts';
import { noteMissing } from './blanks.ts';
import { templateFailure } from './rendering.ts';
import { runValues } from './run-values.ts';
import { ownerOf, type Templates } from './templates.ts';

/** Longest prompt after rendering, in bytes of UTF-8. */
export const MAX_PROMPT_BYTES = 256 * 1024;

/** An answer as a prompt shows it, beside a prompt of its own in one message: what is longer is cut and says so. */
export const shownInPrompt = (answer: string): string => cutText(answer, MAX_PROMPT_BYTES / 2);

/** What blanks of a prompt are said to be in. */
export const THE_PROMPT = 'the prompt';

/** The prompt with the run's values, and where they stand in it; missing ones are noted in the run. */
export async function renderPrompt(
  deps: { templates: Templates; now(): number },
  { run, name, locals }: Pick<StepContext, 'run' | 'name' | 'locals'>,
  step: { prompt_template: string },
): Promise<{ ok: true; raw: RawResponse } | Failure> {
  const values = runValues(run, deps.now(), locals);
  const rendered = await deps.templates.render(step.prompt_template, values, ownerOf(run));
  if (!rendered.ok) return templateFailure(rendered, 'prompt_template');
  if (Buffer.byteLength(rendered.text) > MAX_PROMPT_BYTES) {
    const { largest } = rendered;
    const most = largest ? `; most of it is {{${largest.path}}}, ${largest.chars} characters` : '';
    const msg = `the rendered prompt is larger than ${MAX_PROMPT_BYTES} bytes${most}`;
    return templateFailure({ msg }, 'prompt_template');
  }
  rendered.missing.forEach(noteMissing(THE_PROMPT, { run, name }));
  const missing = rendered.missing.length > 0 && { missing: rendered.missing };
  return { ok: true, raw: { prompt: rendered.text, promptSpans: rendered.spans, ...missing } };
}
