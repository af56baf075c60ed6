import { z } from 'zod';
import { STAGES } from '../../runs/state/model.ts';
import type { Preview as Previewed, Verdict } from '../../triggers/model.ts';
import { AnyObject, component, NullableText } from './answer.ts';
import { ErrorAnswer } from './error.ts';
import { contextView } from './run.ts';

const Named = z.strictObject({
  source: z.string(),
  pipeline: z.string(),
  severity: NullableText,
  summary: NullableText,
  run_id: z.string(),
});
const Refused = z.strictObject({ pipeline: z.string(), reason: z.string() });

/** What became of one context (Orchestration 4.1). */
const Outcome = z.discriminatedUnion('status', [
  Named.extend({ status: z.literal('accepted') }),
  Named.extend({ status: z.literal('queued'), position: z.number() }),
  Named.extend({ status: z.literal('deduplicated'), reason: z.string() }),
  Refused.extend({ status: z.literal('skipped_testing') }),
  Refused.extend({ status: z.literal('suspended') }),
  z.strictObject({
    status: z.literal('at_capacity'),
    message: z.string(),
    active_runs: z.number(),
    max_concurrent_runs: z.number(),
  }),
  z.strictObject({ status: z.literal('no_pipeline'), message: z.string() }),
  z.strictObject({ status: z.literal('unavailable'), message: z.string() }),
]);
export type Outcome = z.infer<typeof Outcome>;

const ACCEPTED = {
  status: 'accepted',
  source: 'alert_router',
  pipeline: 'checkout-errors',
  severity: 'critical',
  summary: 'Checkout answers 5xx',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
} as const;

/** The answer to a delivery: of its one context, or the best of several, which `runs` lists (`strategy=per_alert`). */
export const DeliveryAnswer = component(
  'DeliveryAnswer',
  z.intersection(
    z.looseObject({ status: z.string(), runs: z.array(Outcome).optional() }),
    z.looseObject({ run_id: z.string().optional(), reason: z.string().optional() }),
  ),
  ACCEPTED,
);

/** 422, 429 and 503 of a delivery: the envelope, the load where there is no room, and the outcome of each alert. */
export const DeliveryRefusal = component(
  'DeliveryRefusal',
  z.intersection(
    ErrorAnswer,
    z.looseObject({
      active_runs: z.number().optional(),
      max_concurrent_runs: z.number().optional(),
      runs: z.array(Outcome).optional(),
    }),
  ),
  {
    detail: { type: 'at_capacity', message: '10 of 10 runs are active' },
    active_runs: 10,
    max_concurrent_runs: 10,
  },
);

/** What a delivery would start (`dry_run`). */
const Preview = z.strictObject({
  status: z.literal('dry_run'),
  pipeline: NullableText,
  stage: z.enum(STAGES).nullable(),
  fingerprint: NullableText,
  would: z.string(),
  /** Why no run would start; null where one would, or where `would` says all. */
  reason: NullableText,
  dedup: z.strictObject({ duplicate: z.boolean(), run_id: NullableText }),
  context: AnyObject,
  /** Only where it was asked for; null where no step has a prompt or no pipeline was found. */
  prompt: z.unknown().optional(),
});

const PREVIEW = {
  status: 'dry_run',
  pipeline: 'checkout-errors',
  stage: 'production',
  fingerprint: 'a1b2c3d4e5f60718:firing',
  would: 'accepted',
  reason: null,
  dedup: { duplicate: false, run_id: null },
  context: { source: 'alert_router', severity: 'critical' },
} as const;

/** One preview, or several under `runs`. */
export const DryRun = component(
  'DryRun',
  z.union([Preview, z.strictObject({ status: z.literal('dry_run'), runs: z.array(Preview) })]),
  PREVIEW,
);

export function outcomeView(verdict: Verdict): Outcome {
  switch (verdict.status) {
    case 'accepted':
    case 'queued':
    case 'deduplicated': {
      const { runId, ...rest } = verdict;
      return { ...rest, run_id: runId };
    }
    case 'at_capacity':
      return {
        status: verdict.status,
        message: verdict.message,
        active_runs: verdict.activeRuns,
        max_concurrent_runs: verdict.maxConcurrentRuns,
      };
    case 'skipped_testing':
    case 'suspended':
    case 'no_pipeline':
    case 'unavailable':
      return verdict;
    default:
      return verdict satisfies never;
  }
}

export const previewView = ({ dedup, context, ...rest }: Previewed): z.infer<typeof Preview> => ({
  ...rest,
  dedup: { duplicate: dedup.duplicate, run_id: dedup.runId },
  context: contextView({ ...context }),
});
