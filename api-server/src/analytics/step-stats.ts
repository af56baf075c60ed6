import type { Outcome } from '../runs/state/model.ts';
import { accuracyOf } from './accuracy.ts';
import { costOf, sumOf, tokensOf } from './money.ts';
import { statusCounts, successRate } from './outcomes.ts';
import { tidy } from './tidy.ts';
import type { StepSum } from './sums.ts';

/** How many executions of one pipeline, agent and model are labelled so. */
export interface LabelSum {
  pipeline: string;
  agent: string | null;
  provider: string | null;
  model: string | null;
  outcome: Outcome;
  n: number;
}

/** What the store knows of one step in a window; `ended` is grouped by pipeline, agent, model, source of the price and status. */
export interface StepFacts {
  ended: readonly StepSum[];
  running: number;
  labels: readonly LabelSum[];
  /** Seconds. */
  p95: number | null;
}

const mean = (sum: number, n: number): number | null => (n === 0 ? null : sum / n);

function averages(sums: readonly StepSum[]) {
  const reporting = sumOf(sums, (sum) => sum.reporting);
  return {
    avg_input_tokens: mean(
      sumOf(sums, ({ inputTokens }) => inputTokens),
      reporting,
    ),
    avg_output_tokens: mean(
      sumOf(sums, ({ outputTokens }) => outputTokens),
      reporting,
    ),
  };
}

const averageSeconds = (sums: readonly StepSum[]): number | null =>
  mean(
    sumOf(sums, ({ durationMs }) => durationMs / 1000),
    sumOf(sums, ({ executions }) => executions),
  );

const countsOf = (sums: readonly { status: string; executions: number }[]) =>
  statusCounts(sums, ({ executions }) => executions);

/** The step stats object (Orchestration 2.9); averages are of the executions that reported tokens, null without any. */
export function stepStats(name: string, currency: string, { ended, running, labels, p95 }: StepFacts) {
  const counts = countsOf([...ended, ...(running === 0 ? [] : [{ status: 'running', executions: running }])]);
  return tidy({
    step_name: name,
    runs_total: sumOf(Object.values(counts), (n) => n),
    status_counts: counts,
    success_rate: successRate(counts),
    tokens: tokensOf(ended),
    cost: costOf(ended, currency),
    duration_seconds: { avg: averageSeconds(ended), p95 },
    accuracy: accuracyOf('executions', labels),
    ...averages(ended),
    pipelines: pipelinesOf(ended, labels),
  });
}

/** The same name in several pipelines may be several steps: how much of the figures comes from each, the busiest first. */
function pipelinesOf(ended: readonly StepSum[], labels: readonly LabelSum[]) {
  const labelled = Map.groupBy(labels, ({ pipeline }) => pipeline);
  return [...Map.groupBy(ended, ({ pipeline }) => pipeline)]
    .map(([name, sums]) => ({
      pipeline_name: name,
      runs_total: sumOf(sums, ({ executions }) => executions),
      success_rate: successRate(countsOf(sums)),
      accuracy: accuracyOf('executions', labelled.get(name) ?? []),
    }))
    .toSorted((a, b) => b.runs_total - a.runs_total || (a.pipeline_name < b.pipeline_name ? -1 : 1));
}

const keyOf = ({ agent, provider, model }: Pick<LabelSum, 'agent' | 'provider' | 'model'>): string =>
  JSON.stringify([agent, provider, model]);

/** Ended executions by who answered them, the busiest first (Orchestration 4.4); names are null for executors that have none. */
export function modelBreakdown({ ended, labels }: Pick<StepFacts, 'ended' | 'labels'>) {
  const labelled = Map.groupBy(labels, keyOf);
  return [...Map.groupBy(ended, keyOf)]
    .map(([key, sums]) => modelStats(sums, labelled.get(key) ?? []))
    .toSorted((a, b) => b.runs_total - a.runs_total || (keyOf(a) < keyOf(b) ? -1 : 1));
}

function modelStats(sums: readonly StepSum[], labels: readonly LabelSum[]) {
  const [{ agent, provider, model } = { agent: null, provider: null, model: null }] = sums;
  const counts = countsOf(sums);
  return tidy({
    agent,
    provider,
    model,
    runs_total: sumOf(sums, ({ executions }) => executions),
    status_counts: counts,
    success_rate: successRate(counts),
    ...averages(sums),
    avg_duration_seconds: averageSeconds(sums),
    accuracy: accuracyOf('executions', labels),
  });
}

/** The pipeline of a step's figures: the first where none of them is wanted, none where all is of one pipeline. */
export const chosenOf = (pipelines: readonly string[], wanted: unknown): string | undefined =>
  pipelines.length < 2 ? undefined : (pipelines.find((one) => one === wanted) ?? pipelines[0]);
