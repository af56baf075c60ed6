import type { Counter } from './records.ts';
import type { Stage } from './model.ts';

/** Upper bounds of the duration histogram in seconds (Orchestration 6). */
export const DURATION_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200];

export interface EndedStep {
  stage: Stage;
  team: string | null;
  pipeline: string;
  stepName: string;
  executor: string;
  agent: string | null;
  model: string | null;
  provider: string | null;
  status: string;
  durationSeconds: number;
  inputTokens: number | null;
  outputTokens: number | null;
}

/** A fan-out branch counts under the name before the slash (Design 8). */
const family = (stepName: string): string => stepName.split('/')[0] ?? stepName;

/** What one ended step adds to the metrics; testing adds nothing. */
export function stepCounters(step: EndedStep): Counter[] {
  if (step.stage !== 'production' || step.status === 'skipped') return [];
  const who = [step.pipeline, family(step.stepName), step.executor, step.agent ?? '', step.model ?? '', step.provider ?? ''];
  const bucket = DURATION_BUCKETS.find((bound) => step.durationSeconds <= bound);
  return [
    { metric: 'pipeline_steps_total', labels: [...who, step.status], value: 1 },
    { metric: 'pipeline_step_duration_seconds', labels: [...who, bucket === undefined ? '+Inf' : String(bucket)], value: 1 },
    { metric: 'pipeline_step_duration_seconds_sum', labels: who, value: step.durationSeconds },
    ...tokenCounters(step),
  ];
}

function tokenCounters(step: EndedStep): Counter[] {
  if (step.inputTokens === null && step.outputTokens === null) return [];
  const who = [step.team ?? '', step.pipeline, family(step.stepName), step.executor, step.agent ?? '', step.model ?? '', step.provider ?? ''];
  return [
    { metric: 'pipeline_tokens_total', labels: [...who, 'input'], value: step.inputTokens ?? 0 },
    { metric: 'pipeline_tokens_total', labels: [...who, 'output'], value: step.outputTokens ?? 0 },
  ];
}

/** What one ended run adds to the metrics. */
export const runCounters = (run: { stage: Stage; pipeline: string; status: string }): Counter[] =>
  run.stage === 'production' ? [{ metric: 'pipeline_runs_total', labels: [run.pipeline, run.status], value: 1 }] : [];
