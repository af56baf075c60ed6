import type { Stage } from '../runs/state/model.ts';
import type { Insights } from './insights.ts';
import type { PipelineStats } from './pipeline-stats.ts';
import type { ModelStats, StepStats } from './step-stats.ts';
import type { TimeRange } from './window.ts';

/** What to look at (Orchestration 4.4). */
export interface StatisticsQuery {
  timeRange: TimeRange;
  stage: Stage | 'all';
}

/** The statistics that routes and pages share, so that both show the same numbers; `unavailable` where they take too long. */
export interface Statistics {
  /** Rejects with `not_found` for a pipeline that is neither loaded nor ever had a run. */
  pipeline(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<PipelineStats>;
  /** Every pipeline with a run in the window. */
  pipelines(query: StatisticsQuery, signal: AbortSignal): Promise<PipelineStats[]>;
  /** Across pipelines. Rejects with `not_found` for a step that is in no library and was never executed. */
  step(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<StepStats>;
  stepModels(name: string, query: StatisticsQuery, signal: AbortSignal): Promise<ModelStats[]>;
  /** All pipelines together, over time and against the window before. */
  insights(query: StatisticsQuery, signal: AbortSignal): Promise<Insights>;
}
