import { AppError } from '@signalbox/crds';
import type { TrendDay } from '../../analytics/trend.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import type { Database } from '../../store/db/database.ts';
import type { Answers } from './statistics-answers.ts';
import type { StatisticsQuery } from './statistics-query.ts';
import type {
  Insights,
  ModelStatistics,
  PipelineStatistics,
  StepStatistics,
  TeamsUse,
} from '../views/analytics/statistics.ts';

export { chosenOf } from '../../analytics/step-stats.ts';
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
  /** Both, for one of the pipelines that have a step of this name. */
  stepIn(name: string, asked: AskedIn, signal: AbortSignal): Promise<StepFigures>;
  /** Production runs of the calendar month in UTC, as budgets count them. */
  teams(signal: AbortSignal): Promise<TeamsUse>;
  /** The last 14 days in UTC, both stages, today included. */
  trend(signal: AbortSignal): Promise<TrendDay[]>;
  /** All pipelines that the query leaves together, over time and compared with the previous window. */
  insights(query: StatisticsQuery, signal: AbortSignal): Promise<Insights>;
}

export interface AskedIn {
  query: StatisticsQuery;
  /** The pipeline that is wanted. */
  pipeline: string | undefined;
  /** Pipelines that are known to have had the step. */
  pipelines: readonly string[];
}

export interface StepFigures {
  /** The busiest of the window first, then those that are known. */
  pipelines: string[];
  /** Whose figures these are; undefined where they are of all. */
  pipeline: string | undefined;
  stats: StepStatistics;
  models: ModelStatistics[];
}

export interface StatisticsDeps {
  database: Pick<Database, 'ask'>;
  definitions(): Pick<Snapshot, 'byName' | 'stepsByName'>;
  currency: string;
  /** Of teams, for a calendar month in UTC. */
  budgets: Readonly<Record<string, number>>;
  now(): number;
}

const ANSWERS = new URL('./statistics-answers.ts', import.meta.url);

export function createStatistics({ database, definitions, currency, budgets, now }: StatisticsDeps): Statistics {
  const ask = <Name extends keyof Answers>(
    name: Name,
    input: Omit<Parameters<Answers[Name]>[1], 'now' | 'currency'>,
    signal: AbortSignal,
  ) => database.ask(ANSWERS, { name, input: { ...input, now: now(), currency } }, signal) as ReturnType<Answers[Name]>;
  const ofStep = <T>(name: string, answer: T | null): T => {
    if (answer !== null) return answer;
    throw new AppError('not_found', `no library step and no executed step is named "${name}"`);
  };
  const isStep = (name: string) => definitions().stepsByName.has(name);
  return {
    pipeline: async (name, query, signal) => {
      const stats = await ask('pipeline', { name, known: definitions().byName.has(name), query }, signal);
      if (stats === null) throw new AppError('not_found', `no pipeline and no run is named "${name}"`);
      return stats;
    },
    pipelines: (query, signal) => ask('pipelines', { query }, signal),
    step: async (name, query, signal) => ofStep(name, await ask('step', { name, known: isStep(name), query }, signal)),
    stepModels: async (name, query, signal) =>
      ofStep(name, await ask('stepModels', { name, known: isStep(name), query }, signal)),
    stepIn: async (name, asked, signal) =>
      ofStep(name, await ask('stepIn', { name, known: isStep(name), ...asked }, signal)),
    insights: (query, signal) => ask('insights', { query }, signal),
    trend: (signal) => ask('trend', {}, signal),
    teams: (signal) => ask('teams', { budgets }, signal),
  };
}
