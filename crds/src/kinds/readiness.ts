import { z } from 'zod';
import { Ratio } from './fields.ts';

/** Statuses of an execution that ended with a word on whether the step did its work. */
export const JUDGED_STATUSES = ['completed', 'stopped', 'escalated', 'aborted', 'failed'] as const;

/** An evaluation reads 10,000 runs at most, so a larger number could never be met. */
const MAX_NEEDED = 10_000;
const Needed = z.number().int().min(1).max(MAX_NEEDED);

/** Evidence a step needs before its pipeline may leave `testing`: four independent tiers (Orchestration 2.9). */
export const Readiness = z.strictObject({
  operational: z
    .strictObject({
      min_runs: Needed.default(20).describe('minimum number of runs that reached the step'),
      min_success_rate: Ratio.default(0.95).describe(
        'minimum share of executions that did not fail; an answer that did not pass the gate is not a failure',
      ),
      max_age_days: z
        .number()
        .int()
        .min(1)
        .max(3650)
        .optional()
        .describe('only executions of the last days count; else all'),
      acceptable_statuses: z
        .array(z.enum(JUDGED_STATUSES))
        .min(1)
        .max(JUDGED_STATUSES.length)
        .optional()
        .describe('statuses that are no failure, instead of the rule of min_success_rate'),
    })
    .nullable()
    .optional()
    .describe('the step runs without failures; null asks nothing'),
  confidence: z
    .strictObject({
      min_runs: Needed.default(20).describe('minimum number of answers with a confidence'),
      min_pass_rate: Ratio.default(0.8).describe(
        'minimum share of them whose trust reaches the present confidence_threshold of the step',
      ),
    })
    .nullable()
    .optional()
    .describe('the answers pass the gate; null asks nothing'),
  accuracy: z
    .strictObject({
      min_accuracy: Ratio.default(0.85).describe('minimum mean of the marks; a partial one counts half'),
      min_marked: Needed.default(20).describe('minimum number of marked results'),
      min_human_marked: Needed.optional().describe(
        'minimum number of them that a person marked on the step itself, not a failed check or the mark of a run',
      ),
    })
    .nullable()
    .optional()
    .describe('people mark the answers as right; null asks nothing'),
  calibration: z
    .strictObject({
      n_min: Needed.optional().describe('marked results that validate a bin; else calibration.n_min of the service'),
      max_gap: Ratio.default(0.15).describe(
        'largest allowed difference between the confidence of a validated bin and its share correct',
      ),
      min_coverage: Ratio.default(0.5).describe('minimum share of answers whose confidence is in a validated bin'),
    })
    .nullable()
    .optional()
    .describe('the confidence agrees with the marks; null asks nothing'),
});
export type Readiness = z.infer<typeof Readiness>;
