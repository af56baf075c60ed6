import { z } from 'zod';
import { Ratio } from './fields.ts';

const Runs = z.number().int().min(1).max(100_000);

/** Evidence a step needs before its pipeline may leave `testing`: four independent tiers (Orchestration 2.9). */
export const Readiness = z.strictObject({
  operational: z
    .strictObject({
      min_runs: Runs.default(20).describe('executions needed'),
      min_success_rate: Ratio.default(0.95).describe('share that completed'),
    })
    .optional()
    .describe('it runs'),
  confidence: z
    .strictObject({
      min_runs: Runs.default(20).describe('executions needed'),
      min_pass_rate: Ratio.default(0.8).describe('share whose trust reached the threshold of the step'),
    })
    .optional()
    .describe('it is sure'),
  accuracy: z
    .strictObject({
      min_accuracy: Ratio.default(0.85).describe('mean of the marks, a partial one counting half'),
      min_marked: Runs.default(20).describe('marked executions needed'),
    })
    .optional()
    .describe('it is right'),
  calibration: z
    .strictObject({
      n_min: Runs.optional().describe('marked executions needed; the service has a default'),
      max_gap: Ratio.default(0.15).describe(
        'largest difference between confidence and share correct in a validated bin',
      ),
    })
    .optional()
    .describe('it knows when it is right'),
});
export type Readiness = z.infer<typeof Readiness>;
