import { type Cost, costOf, sumOf, type Tokens, tokensOf } from './money.ts';
import { type Accuracy, accuracyOf, type StatusCounts, statusCounts, successRate } from './outcomes.ts';
import type { Marks, Percentile, RunSum, StepSum } from './sums.ts';

/** What the store knows of the pipelines in a window; `steps` are told apart by pipeline, team and source of the price. */
export interface PipelineFacts {
  ended: readonly RunSum[];
  active: readonly RunSum[];
  steps: readonly StepSum[];
  /** By pipeline. */
  percentiles: readonly Percentile[];
  marks: readonly Marks[];
}

/** The pipeline stats object (Orchestration 2.9). */
export interface PipelineStats {
  pipeline_name: string;
  /** With runs that have not ended: the sum of `status_counts`. */
  runs_total: number;
  status_counts: StatusCounts;
  success_rate: number | null;
  tokens: Tokens;
  cost: Cost;
  duration_seconds: { avg: number | null; p95: number | null };
  accuracy: Accuracy;
  teams: TeamStats[];
}

export interface TeamStats {
  /** Null for runs without one. */
  team: string | null;
  runs_total: number;
  tokens: Tokens;
  cost: Cost;
}

/** One object for every pipeline that has a run in the window, by name (Orchestration 4.4). */
export function allPipelineStats(facts: PipelineFacts, currency: string): PipelineStats[] {
  const names = new Set([...facts.ended, ...facts.active].map(({ pipeline }) => pipeline));
  const ended = Map.groupBy(facts.ended, ({ pipeline }) => pipeline);
  const active = Map.groupBy(facts.active, ({ pipeline }) => pipeline);
  const steps = Map.groupBy(facts.steps, ({ pipeline }) => pipeline);
  const percentiles = Map.groupBy(facts.percentiles, ({ of }) => of);
  const marks = Map.groupBy(facts.marks, ({ of }) => of);
  return [...names].toSorted().map((name) =>
    pipelineStats(name, currency, {
      ended: ended.get(name) ?? [],
      active: active.get(name) ?? [],
      steps: steps.get(name) ?? [],
      percentiles: percentiles.get(name) ?? [],
      marks: marks.get(name) ?? [],
    }),
  );
}

/** `facts` are of this pipeline alone. */
export function pipelineStats(name: string, currency: string, facts: PipelineFacts): PipelineStats {
  const runs = [...facts.ended, ...facts.active];
  const counts = statusCounts(runs, (sum) => sum.runs);
  const ended = sumOf(facts.ended, (sum) => sum.runs);
  const milliseconds = sumOf(facts.ended, ({ durationMs }) => durationMs);
  return {
    pipeline_name: name,
    runs_total: sumOf(runs, (sum) => sum.runs),
    status_counts: counts,
    success_rate: successRate(counts),
    tokens: tokensOf(facts.steps),
    cost: costOf(facts.steps, currency),
    duration_seconds: {
      avg: ended === 0 ? null : milliseconds / ended / 1000,
      p95: facts.percentiles[0]?.seconds ?? null,
    },
    accuracy: accuracyOf(facts.marks),
    teams: teamsOf(runs, facts.steps, currency),
  };
}

/** Named teams by name, runs without a team last. */
function teamsOf(runs: readonly RunSum[], steps: readonly StepSum[], currency: string): TeamStats[] {
  const names = new Set([...runs, ...steps].map(({ team }) => team));
  const sorted = [...names].filter((team) => team !== null).toSorted();
  return [...sorted, ...(names.has(null) ? [null] : [])].map((team) => {
    const own = steps.filter((step) => step.team === team);
    return {
      team,
      runs_total: sumOf(runs, (run) => (run.team === team ? run.runs : 0)),
      tokens: tokensOf(own),
      cost: costOf(own, currency),
    };
  });
}
