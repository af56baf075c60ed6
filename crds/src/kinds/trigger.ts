import { z } from 'zod';
import { MatchRules } from './fields.ts';

/** Repeats of a fingerprint within the window start no run; what is absent falls back to the service (Orchestration 2.7). */
export const Dedup = z.strictObject({
  enabled: z.boolean().optional().describe('false switches deduplication off for this pipeline'),
  window_seconds: z
    .number()
    .int()
    .min(0)
    .max(2_592_000)
    .optional()
    .describe('seconds; overrides the default of the service'),
});
export type Dedup = z.infer<typeof Dedup>;

/**
 * When an alert belongs to this pipeline (Orchestration 2.7, 4.1). A rule in `match` is a scalar or a map with one operator;
 * others load with a warning and never match, so they are not refused here.
 */
export const Trigger = z.strictObject({
  priority: z
    .number()
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .default(0)
    .describe('pipelines with a higher priority are tried first; equal ones in byte order of their file names'),
  match: MatchRules.optional().describe(
    'rules that must all match, at most 64; {} matches every alert, and without match no alert starts the pipeline',
  ),
  dedup: Dedup.optional().describe('suppression of repeated alerts'),
});
export type Trigger = z.infer<typeof Trigger>;
