import { accuracyOf } from './accuracy.ts';
import { byTeam, sortedTeams, type TeamSums } from './by-team.ts';
import { costOf, sumOf, tokensOf } from './money.ts';
import { statusCounts, successRate } from './outcomes.ts';
import { tidy } from './tidy.ts';
import type { Marks, Percentile, RunSum, StepSum } from './sums.ts';

/** What the store knows of the pipelines in a window; `steps` are grouped by pipeline, team and source of the price. */
export interface PipelineFacts {
  ended: readonly RunSum[];
  active: readonly RunSum[];
  steps: readonly StepSum[];
  /** By pipeline. */
  percentiles: readonly Percentile[];
  marks: readonly Marks[];
}

/** One object for every pipeline that has a run in the window, by name (Orchestration 4.4). */
export function allPipelineStats(facts: PipelineFacts, currency: string) {
  const names = new Set([...facts.ended, ...facts.active].map(({ pipeline }) => pipeline));
  const of = factsBy('pipeline', facts);
  return [...names].toSorted().map((name) => pipelineStats(name, currency, of(name)));
}

/** The facts of one pipeline, or of one bucket of time; percentiles and marks must be grouped by the same key. */
export function factsBy(key: 'pipeline' | 'bucket', facts: PipelineFacts): (value: string | number) => PipelineFacts {
  const bySum = <T extends RunSum | StepSum>(items: readonly T[]) => Map.groupBy(items, (item) => String(item[key]));
  const byName = <T extends { of: string }>(items: readonly T[]) => Map.groupBy(items, ({ of }) => of);
  const [ended, active, steps] = [bySum(facts.ended), bySum(facts.active), bySum(facts.steps)];
  const [percentiles, marks] = [byName(facts.percentiles), byName(facts.marks)];
  return (value) => {
    const name = String(value);
    return {
      ended: ended.get(name) ?? [],
      active: active.get(name) ?? [],
      steps: steps.get(name) ?? [],
      percentiles: percentiles.get(name) ?? [],
      marks: marks.get(name) ?? [],
    };
  };
}

/**
 * The pipeline stats object (Orchestration 2.9). `facts` are of this pipeline alone; `runs_total`, with runs that have not
 * ended, is the sum of `status_counts`.
 */
export function pipelineStats(name: string, currency: string, facts: PipelineFacts) {
  const runs = [...facts.ended, ...facts.active];
  return {
    pipeline_name: name,
    ...figuresOf(facts, currency),
    teams: tidy(teamsOf({ runs, steps: facts.steps }, currency)),
  };
}

/** The numbers of a pipeline, or of all pipelines together. */
export function figuresOf(facts: PipelineFacts, currency: string) {
  const runs = [...facts.ended, ...facts.active];
  const counts = statusCounts(runs, (sum) => sum.runs);
  const ended = sumOf(facts.ended, (sum) => sum.runs);
  const milliseconds = sumOf(facts.ended, ({ durationMs }) => durationMs);
  return tidy({
    runs_total: sumOf(runs, (sum) => sum.runs),
    status_counts: counts,
    success_rate: successRate(counts),
    tokens: tokensOf(facts.steps),
    cost: costOf(facts.steps, currency),
    duration_seconds: {
      avg: ended === 0 ? null : milliseconds / ended / 1000,
      p95: facts.percentiles[0]?.seconds ?? null,
      machine_p95: facts.percentiles[0]?.machineSeconds ?? null,
      waiting_p95: facts.percentiles[0]?.waitingSeconds ?? null,
    },
    accuracy: accuracyOf('runs', facts.marks),
  });
}

export type Figures = ReturnType<typeof figuresOf>;

/** Named teams by name, runs without a team last. */
function teamsOf(sums: TeamSums, currency: string) {
  const { names, of } = byTeam(sums);
  return sortedTeams(names).map((team) => {
    const { runs, steps } = of(team);
    return { team, runs_total: sumOf(runs, (sum) => sum.runs), tokens: tokensOf(steps), cost: costOf(steps, currency) };
  });
}
