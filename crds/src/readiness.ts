import { z } from 'zod';
import { Ratio } from './fields.ts';

/** A need beyond what an evaluation looks at could never be met. */
const MAX_NEEDED = 10_000;
const Needed = z.number().int().min(1).max(MAX_NEEDED);

/** Evidence a step needs before its pipeline may leave `testing`: four independent tiers (Orchestration 2.9). */
export const Readiness = z.strictObject({
  operational: z
    .strictObject({
      min_runs: Needed.default(20).describe('runs needed that reached the step'),
      min_success_rate: Ratio.default(0.95).describe(
        'share of executions that did not fail; an answer that the gate held back did not',
      ),
    })
    .optional()
    .describe('it runs'),
  confidence: z
    .strictObject({
      min_runs: Needed.default(20).describe('answers with a confidence needed'),
      min_pass_rate: Ratio.default(0.8).describe(
        'share of them whose trust reaches the confidence_threshold that the step has now',
      ),
    })
    .optional()
    .describe('it is sure'),
  accuracy: z
    .strictObject({
      min_accuracy: Ratio.default(0.85).describe('mean of the marks, a partial one counting half'),
      min_marked: Needed.default(20).describe('marked results needed'),
    })
    .optional()
    .describe('it is right'),
  calibration: z
    .strictObject({
      n_min: Needed.optional().describe('marked results that validate a bin; else calibration.n_min of the service'),
      max_gap: Ratio.default(0.15).describe('how far the confidence of a validated bin may be above its share correct'),
      min_coverage: Ratio.default(0.5).describe('share of the answers whose confidence lies in a validated bin'),
    })
    .optional()
    .describe('it knows when it is right'),
});
export type Readiness = z.infer<typeof Readiness>;
