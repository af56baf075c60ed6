import { AppError } from '@signalbox/crds';
import { figuresOf, pointsOf } from '../../analytics/insights.ts';
import { allPipelineStats, pipelineStats } from '../../analytics/pipeline-stats.ts';
import { teamsUse } from '../../analytics/teams.ts';
import { type TrendDay, trendOf } from '../../analytics/trend.ts';
import { workBy } from '../../analytics/work.ts';
import { modelBreakdown, stepStats } from '../../analytics/step-stats.ts';
import { bucketsOf, bucketWidth, windowBefore, windowOf } from '../../analytics/window.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { monthOf } from '../../runs/cost/cost.ts';
import { STAGES } from '../../runs/state/model.ts';
import { factsOverTime, hasRuns, oldestHour, pipelineFacts } from '../../store/aggregates/pipeline-facts.ts';
import { hasExecutions, modelFacts, stepFacts, wholeFacts } from '../../store/aggregates/step-facts.ts';
import { activeRuns, sumRuns } from '../../store/aggregates/run-sums.ts';
import { sumSteps } from '../../store/aggregates/step-sums.ts';
import type { Database } from '../../store/db/database.ts';
import type { StatisticsQuery } from './statistics-query.ts';
import type {
  Insights,
  ModelStatistics,
  PipelineStatistics,
  StepStatistics,
  TeamsUse,
} from '../views/analytics/statistics.ts';

export type { StatisticsQuery };

/** The statistics that routes and pages share, so that both show the same numbers. Throws `unavailable` where they take too long. */
export interface Statistics {
  /** Rejects with `not_found` for a pipeline that is neither loaded nor ever had a run. */
  pipeline(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<PipelineStatistics>;
  /** Every pipeline with a run in the window. */
  pipelines(query: StatisticsQuery, signal: AbortSignal): Promise<PipelineStatistics[]>;
  /** Across pipelines unless the query names one. Rejects with `not_found` for a step that is in no library and was never executed. */
  step(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<StepStatistics>;
  stepModels(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<ModelStatistics[]>;
  /** Both, read once for all pipelines. */
  stepIn(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<StepFigures>;
  /** Production runs of the calendar month in UTC, as budgets count them. */
  teams(signal: AbortSignal): Promise<TeamsUse>;
  /** The last 14 days in UTC, both stages, today included. */
  trend(signal: AbortSignal): Promise<TrendDay[]>;
  /** All pipelines that the query leaves together, over time and compared with the previous window. */
  insights(query: StatisticsQuery, signal: AbortSignal): Promise<Insights>;
}

export interface StepFigures {
  /** The busiest first. */
  pipelines: string[];
  /** Of one pipeline, or of all of them together. */
  of(pipeline?: string): Promise<{ stats: StepStatistics; models: ModelStatistics[] }>;
}

export interface StatisticsDeps {
  database: Pick<Database, 'db' | 'reader'>;
  definitions(): Pick<Snapshot, 'byName' | 'stepsByName'>;
  currency: string;
  /** Of teams, for a calendar month in UTC. */
  budgets: Readonly<Record<string, number>>;
  now(): number;
}

const DAY_MS = 86_400_000;
const TREND_DAYS = 14;

export function createStatistics({ database, definitions, currency, budgets, now }: StatisticsDeps): Statistics {
  const stagesOf = ({ stage }: StatisticsQuery) => (stage === 'all' ? STAGES : [stage]);
  const scopeOf = (query: StatisticsQuery) => {
    const { timeRange, stage: _, ...names } = query;
    return { ...names, window: windowOf(timeRange, now()), stages: stagesOf(query) };
  };
  const readerOfStep = async (name: string, signal: AbortSignal) => {
    const db = database.reader(signal);
    if (!definitions().stepsByName.has(name) && !(await hasExecutions(db, name))) {
      throw new AppError('not_found', `no library step and no executed step is named "${name}"`);
    }
    return db;
  };
  return {
    pipeline: async (name, query, signal) => {
      const db = database.reader(signal);
      if (!definitions().byName.has(name) && !(await hasRuns(db, name))) {
        throw new AppError('not_found', `no pipeline and no run is named "${name}"`);
      }
      return pipelineStats(name, currency, await pipelineFacts(db, { ...scopeOf(query), pipeline: name }));
    },
    pipelines: async (query, signal) =>
      allPipelineStats(await pipelineFacts(database.reader(signal), scopeOf(query)), currency),
    step: async (name, query, signal) => {
      const db = await readerOfStep(name, signal);
      return stepStats(name, currency, await stepFacts(db, { ...scopeOf(query), step: name }));
    },
    insights: async (query, signal) => {
      const at = now();
      const db = database.reader(signal);
      const { window, stages, ...names } = scopeOf(query);
      const earlier = windowBefore(query.timeRange, at);
      const first = window.from ?? (await oldestHour(db, stages));
      const bucketMs = bucketWidth(query.timeRange, { first, now: at });
      const [facts, before, work] = await Promise.all([
        factsOverTime(db, { ...names, window, stages, bucketMs }),
        earlier === null ? null : pipelineFacts(db, { ...names, window: earlier, stages }, 'all'),
        sumSteps(db, { ...names, window, stages }, ['agent', 'model', 'costSource']),
      ]);
      const buckets = bucketsOf(window, { bucketMs, first, now: at });
      return {
        now: figuresOf(facts.all, currency),
        before: before && figuresOf(before, currency),
        points: pointsOf(facts.series, { buckets, bucketMs, from: window.from, now: at }, currency),
        pipelines: allPipelineStats(facts.pipelines, currency),
        agents: workBy('agent', work, currency),
        models: workBy('model', work, currency),
      };
    },
    trend: async (signal) => {
      const db = database.reader(signal);
      const today = now() - (now() % DAY_MS);
      const days = Array.from({ length: TREND_DAYS }, (_, at) => today - (TREND_DAYS - 1 - at) * DAY_MS);
      const scope = { window: { from: days[0] ?? today, to: null }, stages: STAGES, bucketMs: DAY_MS };
      const [runs, steps] = await Promise.all([sumRuns(db, scope, []), sumSteps(db, scope, ['costSource'])]);
      return trendOf({ runs, steps }, { days, currency });
    },
    teams: async (signal) => {
      const db = database.reader(signal);
      const month = monthOf(now());
      const scope = {
        window: { from: Date.parse(`${month}-01T00:00:00Z`), to: null },
        stages: ['production'] as const,
      };
      const [ended, active, steps] = await Promise.all([
        sumRuns(db, scope),
        activeRuns(db, scope),
        sumSteps(db, scope, ['team', 'costSource']),
      ]);
      return { month, currency, teams: teamsUse({ runs: [...ended, ...active], steps }, budgets, currency) };
    },
    stepIn: async (name, query, signal) => {
      const db = await readerOfStep(name, signal);
      const scope = { ...scopeOf(query), step: name };
      const { ended, labels } = await modelFacts(db, scope);
      const { pipelines } = stepStats(name, currency, { ended, labels, running: 0, p95: null });
      return {
        pipelines: pipelines.map(({ pipeline_name: pipeline }) => pipeline),
        of: async (pipeline) => {
          const isOwn = (one: { pipeline: string }) => pipeline === undefined || one.pipeline === pipeline;
          const own = { ended: ended.filter(isOwn), labels: labels.filter(isOwn) };
          const whole = await wholeFacts(db, { ...scope, ...(pipeline !== undefined && { pipeline }) });
          return { stats: stepStats(name, currency, { ...own, ...whole }), models: modelBreakdown(own) };
        },
      };
    },
    stepModels: async (name, query, signal) => {
      const db = await readerOfStep(name, signal);
      return modelBreakdown(await modelFacts(db, { ...scopeOf(query), step: name }));
    },
  };
}
