import { z } from 'zod';
import { TIME_RANGES, type TimeRange } from '../../analytics/window.ts';
import { DefinitionName, line } from '../fields.ts';
import { STAGES } from '../../runs/state/model.ts';

/** Query of statistics; pages parse their address with the same schema. */
export const StatisticsParams = z
  .strictObject({
    time_range: z.enum(TIME_RANGES).default('7d'),
    stage: z.enum([...STAGES, 'all']).default('production'),
    pipeline: DefinitionName.optional(),
    team: line(120).optional(),
    /** Executions of it, and runs that had one. */
    agent: line(120).optional(),
    model: line(200).optional(),
  })
  .transform(({ time_range, ...rest }) => ({ timeRange: time_range, ...rest }));

/** The same of one pipeline, which its path names. */
export const OnePipelineParams = StatisticsParams.refine(({ pipeline }) => pipeline === undefined, {
  path: ['pipeline'],
  message: 'the path names the pipeline',
});
/** Time range and stage (Orchestration 4.4), and what narrows the figures further. */
export type StatisticsQuery = z.output<typeof StatisticsParams>;

export { TIME_RANGES, type TimeRange };
