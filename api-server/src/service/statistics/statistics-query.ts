import { z } from 'zod';
import { TIME_RANGES, type TimeRange } from '../../analytics/window.ts';
import { STAGES } from '../../runs/state/model.ts';

/** Query of statistics; pages parse their address with the same schema. */
export const StatisticsParams = z
  .strictObject({
    time_range: z.enum(TIME_RANGES).default('7d'),
    stage: z.enum([...STAGES, 'all']).default('production'),
  })
  .transform(({ time_range, stage }) => ({ timeRange: time_range, stage }));

export { TIME_RANGES, type TimeRange };
