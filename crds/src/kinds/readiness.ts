import { z } from 'zod';
import { Ratio } from './fields.ts';

/** Statuses of an execution that ended with a word on whether the step did its work. */
export const JUDGED_STATUSES = ['completed', 'stopped', 'escalated', 'aborted', 'failed'] as const;

/** An evaluation reads 10,000 runs at most, so a larger number could never be met. */
const MAX_NEEDED = 10_000;
const Needed = z.number().int().min(1).max(MAX_NEEDED);

/** Knobs that a tier has where it does not name them. A written one is told from these, so parsing fills none in. */
export const READINESS_DEFAULTS = {
  operational: { min_runs: 20, min_success_rate: 0.95 },
  confidence: { min_runs: 20, min_pass_rate: 0.8 },
  accuracy: { min_accuracy: 0.85, min_marked: 20 },
  calibration: { max_gap: 0.15, min_coverage: 0.5 },
} as const;

/** Optional, with its default in the schemas for editors and in the documentation. */
const knob = <T extends z.ZodNumber>(schema: T, value: number) => schema.optional().meta({ default: value });
const { operational, confidence, accuracy, calibration } = READINESS_DEFAULTS;

/** Evidence a step needs before its pipeline may leave `testing`: four independent tiers (Orchestration 2.9). */
export const Readiness = z.strictObject({
  operational: z
    .strictObject({
      min_runs: knob(Needed, operational.min_runs).describe('minimum number of runs that reached the step'),
      min_success_rate: knob(Ratio, operational.min_success_rate).describe(
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
      min_runs: knob(Needed, confidence.min_runs).describe('minimum number of answers with a confidence'),
      min_pass_rate: knob(Ratio, confidence.min_pass_rate).describe(
        'minimum share of them whose trust reaches the present confidence_threshold of the step',
      ),
    })
    .nullable()
    .optional()
    .describe('the answers pass the gate; null asks nothing'),
  accuracy: z
    .strictObject({
      min_accuracy: knob(Ratio, accuracy.min_accuracy).describe('minimum mean of the marks; a partial one counts half'),
      min_marked: knob(Needed, accuracy.min_marked).describe('minimum number of marked results'),
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
      max_gap: knob(Ratio, calibration.max_gap).describe(
        'largest allowed difference between the confidence of a validated bin and its share correct',
      ),
      min_coverage: knob(Ratio, calibration.min_coverage).describe(
        'minimum share of answers whose confidence is in a validated bin',
      ),
    })
    .nullable()
    .optional()
    .describe('the confidence agrees with the marks; null asks nothing'),
});
export type Readiness = z.infer<typeof Readiness>;
