import { AppError } from '@signalbox/crds';
import { allPipelineStats, type PipelineStats, pipelineStats } from './analytics/pipeline-stats.ts';
import { modelBreakdown, type ModelStats, type StepStats, stepStats } from './analytics/step-stats.ts';
import { type TimeRange, windowOf } from './analytics/window.ts';
import type { Snapshot } from './definitions/snapshot.ts';
import { type Stage, STAGES } from './runs/model.ts';
import { hasRuns, pipelineFacts } from './store/aggregates/pipeline-facts.ts';
import { hasExecutions, stepFacts } from './store/aggregates/step-facts.ts';
import type { Database } from './store/database.ts';

/** What to look at (Orchestration 4.4). */
export interface StatisticsQuery {
  timeRange: TimeRange;
  stage: Stage | 'all';
}

/** The statistics that routes and pages share, so that both show the same numbers. */
export interface Statistics {
  /** Rejects with `not_found` for a pipeline that is neither loaded nor ever had a run. */
  pipeline(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<PipelineStats>;
  /** Every pipeline with a run in the window. */
  pipelines(query: StatisticsQuery, signal: AbortSignal): Promise<PipelineStats[]>;
  /** Across pipelines. Rejects with `not_found` for a step that is in no library and was never executed. */
  step(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<StepStats>;
  stepModels(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<ModelStats[]>;
}

interface StatisticsParts {
  database: Pick<Database, 'db' | 'reader'>;
  definitions(): Pick<Snapshot, 'byName' | 'stepsByName'>;
  currency: string;
  now(): number;
}

export function createStatistics({ database, definitions, currency, now }: StatisticsParts): Statistics {
  const scopeOf = ({ timeRange, stage }: StatisticsQuery) => ({
    window: windowOf(timeRange, now()),
    stages: stage === 'all' ? STAGES : [stage],
  });
  const factsOfStep = async (name: string, query: StatisticsQuery, signal: AbortSignal) => {
    const db = database.reader(signal);
    if (!definitions().stepsByName.has(name) && !(await hasExecutions(db, name))) {
      throw new AppError('not_found', `there is no step "${name}" in the library, and none was executed`);
    }
    return stepFacts(db, { ...scopeOf(query), step: name });
  };
  return {
    pipeline: async (name, query, signal) => {
      const db = database.reader(signal);
      if (!definitions().byName.has(name) && !(await hasRuns(db, name))) {
        throw new AppError('not_found', `there is no pipeline "${name}", and no run of one`);
      }
      return pipelineStats(name, currency, await pipelineFacts(db, { ...scopeOf(query), pipeline: name }));
    },
    pipelines: async (query, signal) =>
      allPipelineStats(await pipelineFacts(database.reader(signal), scopeOf(query)), currency),
    step: async (name, query, signal) => stepStats(name, currency, await factsOfStep(name, query, signal)),
    stepModels: async (name, query, signal) => modelBreakdown(await factsOfStep(name, query, signal)),
  };
}
