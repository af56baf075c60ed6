import { isFanOut, isParallel, type Step } from '@signalbox/crds';
import type { RunRequest } from '../runs/state/new-run.ts';
import { StepResults } from '../runs/state/step-results.ts';
import { runValues } from '../runs/prompt/run-values.ts';
import type { Templates } from '../runs/prompt/templates.ts';

/** The prompt of the first step that has one, as a new run would render it; `error` where it cannot be rendered. */
export interface FirstPrompt {
  step: string;
  text: string | null;
  missing: string[];
  error: string | null;
}

/** What a run would ask first, without a run: it has no id and no results yet. Null where no step has a prompt. */
export async function firstPrompt(
  templates: Templates,
  { pipeline, context, team }: Omit<RunRequest, 'dedupKey'>,
  now: number,
): Promise<FirstPrompt | null> {
  const [found] = pipeline.config.steps.flatMap(promptsOf);
  if (!found) return null;
  const nothing = { step: found.step, text: null, missing: [] };
  const { stage } = pipeline.config;
  const run = { id: '', pipeline: pipeline.config, context, team, stage, triggeredAt: now, results: new StepResults() };
  const rendered = await templates.render(found.template, runValues(run, now), { run: null, share: pipeline.name });
  if (!rendered.ok) return { ...nothing, error: rendered.msg };
  return { step: found.step, text: rendered.text, missing: rendered.missing, error: null };
}

/** A fan-out's items are known only when it runs. */
function promptsOf(step: Step): { step: string; template: string }[] {
  if (isParallel(step)) return step.parallel.steps.flatMap(promptsOf);
  if (isFanOut(step) || !('prompt_template' in step)) return [];
  return [{ step: step.name, template: step.prompt_template }];
}
