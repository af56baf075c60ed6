import { family } from './hourly.ts';
import type { Counter } from './records.ts';
import type { CostPart, EndedStep, Stage } from './model.ts';

/** Upper bounds of the duration histogram in seconds, and of the grounding scores (Orchestration 6). */
export const DURATION_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200];
export const SCORE_BUCKETS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

type CountedStep = Pick<
  EndedStep,
  | 'stage'
  | 'team'
  | 'pipelineName'
  | 'stepName'
  | 'executor'
  | 'agent'
  | 'model'
  | 'provider'
  | 'status'
  | 'startedAt'
  | 'completedAt'
  | 'groundingScore'
  | 'deterministicPassed'
>;

/** What one ended step adds to the metrics; testing adds nothing. */
export function stepCounters(step: CountedStep, costs: readonly CostPart[]): Counter[] {
  if (step.stage !== 'production' || step.status === 'skipped') return [];
  const name = family(step.stepName);
  const asked = [step.agent ?? '', step.model ?? '', step.provider ?? ''];
  const who = [step.pipelineName, name, step.executor, ...asked];
  const seconds = (step.completedAt - step.startedAt) / 1000;
  return [
    { metric: 'pipeline_steps_total', labels: [...who, step.status], value: 1 },
    ...observed('pipeline_step_duration_seconds', who, { value: seconds, buckets: DURATION_BUCKETS }),
    ...(step.groundingScore === null
      ? []
      : observed('step_grounding_score', [step.pipelineName, name, ...asked], {
          value: step.groundingScore,
          buckets: SCORE_BUCKETS,
        })),
    ...checkCounters(step, name),
    ...costs.flatMap((part) => tokenCounters([step.team ?? '', step.pipelineName, name], part)),
  ];
}

/** One observation of a histogram: its bucket, not cumulative, and the sum. */
function observed(metric: string, labels: string[], seen: { value: number; buckets: readonly number[] }): Counter[] {
  const bucket = seen.buckets.find((bound) => seen.value <= bound);
  return [
    { metric, labels: [...labels, bucket === undefined ? '+Inf' : String(bucket)], value: 1 },
    { metric: `${metric}_sum`, labels, value: seen.value },
  ];
}

function checkCounters({ pipelineName, deterministicPassed }: CountedStep, name: string): Counter[] {
  if (deterministicPassed === null) return [];
  const outcome = deterministicPassed ? 'passed' : 'failed';
  return [{ metric: 'step_deterministic_check_total', labels: [pipelineName, name, outcome], value: 1 }];
}

/** Under the name of whom was asked: the step's own agent, its verifier or its grounding judge. */
function tokenCounters(step: string[], part: CostPart): Counter[] {
  const { executor, agent, model, provider, inputTokens, outputTokens, cachedInputTokens } = part;
  const labels = [...step, executor ?? '', agent ?? '', model ?? '', provider ?? ''];
  const cached = { metric: 'pipeline_cached_input_tokens_total', labels, value: cachedInputTokens ?? 0 };
  return [
    { metric: 'pipeline_tokens_total', labels: [...labels, 'input'], value: inputTokens ?? 0 },
    { metric: 'pipeline_tokens_total', labels: [...labels, 'output'], value: outputTokens ?? 0 },
    ...(cached.value > 0 ? [cached] : []),
  ];
}

/** What one verifier run adds; an override lowered the effective confidence. */
export function verifierCounters(run: { stage: Stage }, agent: string, overrode: boolean): Counter[] {
  if (run.stage !== 'production') return [];
  const runs = { metric: 'verifier_runs_total', labels: [agent], value: 1 };
  return overrode ? [runs, { metric: 'verifier_overrides_total', labels: [agent], value: 1 }] : [runs];
}

/** What one ended run adds to the metrics. */
export const runCounters = (run: { stage: Stage; pipeline: string; status: string }): Counter[] =>
  run.stage === 'production' ? [{ metric: 'pipeline_runs_total', labels: [run.pipeline, run.status], value: 1 }] : [];
