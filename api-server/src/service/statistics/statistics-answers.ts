import { type Insights, pointsOf } from '../../analytics/insights.ts';
import { allPipelineStats, figuresOf, pipelineStats } from '../../analytics/pipeline-stats.ts';
import { chosenOf, modelBreakdown, stepStats } from '../../analytics/step-stats.ts';
import { teamsUse } from '../../analytics/teams.ts';
import { trendOf } from '../../analytics/trend.ts';
import { bucketsOf, bucketWidth, windowBefore, windowOf } from '../../analytics/window.ts';
import { workBy } from '../../analytics/work.ts';
import { monthOf } from '../../runs/cost/cost.ts';
import { STAGES } from '../../runs/state/model.ts';
import { factsOverTime, hasRuns, oldestHour, pipelineFacts } from '../../store/aggregates/pipeline-facts.ts';
import { activeRuns, sumRuns } from '../../store/aggregates/run-sums.ts';
import { hasExecutions, modelFacts, stepFacts, wholeFacts } from '../../store/aggregates/step-facts.ts';
import { sumSteps } from '../../store/aggregates/step-sums.ts';
import type { Question } from '../../store/db/database.ts';
import type { StatisticsQuery } from './statistics-query.ts';

/** What every answer needs beside the rows. */
interface Asked {
  query: StatisticsQuery;
  now: number;
  currency: string;
}

/** `known`: it is defined, and need not have run. */
interface AskedName extends Asked {
  name: string;
  known: boolean;
}

interface AskedStep extends AskedName {
  /** The pipeline whose step is asked for, where several have one of this name; any text. */
  pipeline: string | undefined;
  /** Pipelines that are known to have had the step, beside those of the window. */
  pipelines: readonly string[];
}

interface AskedMonth extends Pick<Asked, 'now' | 'currency'> {
  budgets: Readonly<Record<string, number>>;
}

const DAY_MS = 86_400_000;
const TREND_DAYS = 14;

const scopeOf = ({ query: { timeRange, stage, ...names }, now }: Asked) => ({
  ...names,
  window: windowOf(timeRange, now),
  stages: stage === 'all' ? STAGES : [stage],
});

type Db = Parameters<Question['answer']>[0];

/** What `statistics.ts` asks for. Answers are plain data; null where the name is unknown. */
const ANSWERS = {
  pipeline: async (db: Db, { name, known, ...asked }: AskedName) =>
    known || (await hasRuns(db, name))
      ? pipelineStats(name, asked.currency, await pipelineFacts(db, { ...scopeOf(asked), pipeline: name }))
      : null,
  pipelines: async (db: Db, asked: Asked) => allPipelineStats(await pipelineFacts(db, scopeOf(asked)), asked.currency),
  step: async (db: Db, { name, known, ...asked }: AskedName) =>
    known || (await hasExecutions(db, name))
      ? stepStats(name, asked.currency, await stepFacts(db, { ...scopeOf(asked), step: name }))
      : null,
  stepModels: async (db: Db, { name, known, ...asked }: AskedName) =>
    known || (await hasExecutions(db, name))
      ? modelBreakdown(await modelFacts(db, { ...scopeOf(asked), step: name }))
      : null,
  stepIn,
  insights,
  trend: async (db: Db, { now, currency }: Pick<Asked, 'now' | 'currency'>) => {
    const today = now - (now % DAY_MS);
    const days = Array.from({ length: TREND_DAYS }, (_, at) => today - (TREND_DAYS - 1 - at) * DAY_MS);
    const scope = { window: { from: days[0] ?? today, to: null }, stages: STAGES, bucketMs: DAY_MS };
    const [runs, steps] = await Promise.all([sumRuns(db, scope, []), sumSteps(db, scope, ['costSource'])]);
    return trendOf({ runs, steps }, { days, currency });
  },
  teams: async (db: Db, { now, currency, budgets }: AskedMonth) => {
    const month = monthOf(now);
    const scope = { window: { from: Date.parse(`${month}-01T00:00:00Z`), to: null }, stages: ['production'] as const };
    const [ended, active, steps] = await Promise.all([
      sumRuns(db, scope),
      activeRuns(db, scope),
      sumSteps(db, scope, ['team', 'costSource']),
    ]);
    return { month, currency, teams: teamsUse({ runs: [...ended, ...active], steps }, budgets, currency) };
  },
};
export type Answers = typeof ANSWERS;

/** Read once for all pipelines, then the figures of one of them, or of all together where one alone has the step. */
async function stepIn(db: Db, { name, known, pipeline: wanted, pipelines: further, ...asked }: AskedStep) {
  if (!known && !(await hasExecutions(db, name))) return null;
  const { currency } = asked;
  const scope = { ...scopeOf(asked), step: name };
  const { ended, labels } = await modelFacts(db, scope);
  const busiest = stepStats(name, currency, { ended, labels, running: 0, p95: null }).pipelines;
  const pipelines = [...new Set([...busiest.map(({ pipeline_name: pipeline }) => pipeline), ...further])];
  const pipeline = chosenOf(pipelines, wanted);
  const isOwn = (one: { pipeline: string }) => pipeline === undefined || one.pipeline === pipeline;
  const own = { ended: ended.filter(isOwn), labels: labels.filter(isOwn) };
  const whole = await wholeFacts(db, { ...scope, ...(pipeline !== undefined && { pipeline }) });
  return { pipelines, pipeline, stats: stepStats(name, currency, { ...own, ...whole }), models: modelBreakdown(own) };
}

async function insights(db: Db, asked: Asked): Promise<Insights> {
  const { query, now, currency } = asked;
  const { window, stages, ...names } = scopeOf(asked);
  const earlier = windowBefore(query.timeRange, now);
  const first = window.from ?? (await oldestHour(db, stages));
  const bucketMs = bucketWidth(query.timeRange, { first, now });
  const [facts, before, work] = await Promise.all([
    factsOverTime(db, { ...names, window, stages, bucketMs }),
    earlier === null ? null : pipelineFacts(db, { ...names, window: earlier, stages }, 'all'),
    sumSteps(db, { ...names, window, stages }, ['agent', 'model', 'costSource']),
  ]);
  const buckets = bucketsOf(window, { bucketMs, first, now });
  return {
    now: figuresOf(facts.all, currency),
    before: before && figuresOf(before, currency),
    points: pointsOf(facts.series, { buckets, bucketMs, from: window.from, now }, currency),
    pipelines: allPipelineStats(facts.pipelines, currency),
    agents: workBy('agent', work, currency),
    models: workBy('model', work, currency),
  };
}

type Call = { [Name in keyof Answers]: { name: Name; input: Parameters<Answers[Name]>[1] } }[keyof Answers];

export const answer: Question['answer'] = (db, call) => {
  const { name, input } = call as Call;
  return ANSWERS[name](db, input as never);
};
