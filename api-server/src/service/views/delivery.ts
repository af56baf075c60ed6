import { z } from 'zod';
import { STAGES } from '../../runs/state/model.ts';
import type { Preview as Previewed, Verdict } from '../../triggers/model.ts';
import { AnyObject, component, NullableText, viewOf } from './answer.ts';
import { ErrorAnswer } from './error.ts';
import { Closest } from './kept-delivery.ts';
import { contextView } from './run.ts';

const Named = z.strictObject({
  source: z.string(),
  pipeline: z.string(),
  severity: NullableText,
  summary: NullableText,
  run_id: z.string(),
});
const Refused = z.strictObject({ pipeline: z.string(), reason: z.string() });

const Accepted = Named.extend({ status: z.literal('accepted') });
const Queued = Named.extend({ status: z.literal('queued'), position: z.number() });
const Deduplicated = Named.extend({ status: z.literal('deduplicated'), reason: z.string() });
const SkippedTesting = Refused.extend({ status: z.literal('skipped_testing') });
const Suspended = Refused.extend({ status: z.literal('suspended') });
const Load = { active_runs: z.number(), max_concurrent_runs: z.number() };

/** What became of one context (Orchestration 4.1). */
const Outcome = z
  .discriminatedUnion('status', [
    Accepted,
    Queued,
    Deduplicated,
    SkippedTesting,
    Suspended,
    z.strictObject({ status: z.literal('at_capacity'), message: z.string(), ...Load }),
    z.strictObject({ status: z.literal('no_pipeline'), message: z.string() }),
    z.strictObject({ status: z.literal('unavailable'), message: z.string() }),
  ])
  .meta({ id: 'DeliveryOutcome' });
export type Outcome = z.infer<typeof Outcome>;
/** What became of each alert (`strategy=per_alert`), and of which delivery this is a repetition. */
const Runs = { runs: z.array(Outcome).optional(), original_delivery_id: z.number().optional() };

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
  z.discriminatedUnion('status', [
    Accepted.extend(Runs),
    Queued.extend(Runs),
    Deduplicated.extend(Runs),
    SkippedTesting.extend(Runs),
    Suspended.extend(Runs),
  ]),
  ACCEPTED,
);
export type DeliveryAnswer = z.infer<typeof DeliveryAnswer>;

/** 422 and 503 of a delivery: the envelope, and the outcome of each alert. */
export const DeliveryRefusal = component('DeliveryRefusal', z.strictObject({ ...ErrorAnswer.shape, ...Runs }), {
  detail: { type: 'no_pipeline', message: 'no pipeline matches the labels of the alert' },
});
export type DeliveryRefusal = z.infer<typeof DeliveryRefusal>;

/** 429 where all slots and places in the queue are taken; without the load where the token is over its limit. */
export const CapacityRefusal = component(
  'CapacityRefusal',
  z.strictObject({ ...ErrorAnswer.shape, ...Load, ...Runs }).partial({ active_runs: true, max_concurrent_runs: true }),
  {
    detail: { type: 'at_capacity', message: '10 of 10 runs are active' },
    active_runs: 10,
    max_concurrent_runs: 10,
  },
);
export type CapacityRefusal = z.infer<typeof CapacityRefusal>;

/** The prompt of the first step that has one; `error` where it cannot be rendered. */
const FirstPrompt = z.strictObject({
  step: z.string(),
  text: NullableText,
  missing: z.array(z.string()),
  error: NullableText,
});

const Rule = z.strictObject({ key: z.string(), rule: z.unknown(), actual: z.unknown(), holds: z.boolean() });

/** What a delivery would start (`dry_run`). */
const Preview = z
  .strictObject({
    status: z.literal('dry_run'),
    pipeline: NullableText,
    stage: z.enum(STAGES).nullable(),
    fingerprint: NullableText,
    would: z.enum(Outcome.options.map(({ shape }) => shape.status.value)),
    /** Why no run would start; null where one would, or where `would` says all. */
    reason: NullableText,
    dedup: z.strictObject({ duplicate: z.boolean(), run_id: NullableText }),
    context: AnyObject,
    /** Where no pipeline was found. */
    closest: z.array(Closest).optional(),
    /** Only where it was asked for; null where no step has a prompt or no pipeline was found. */
    prompt: FirstPrompt.nullable().optional(),
    /** With the prompt: each rule of `trigger.match` compared with the context; null for a pipeline without `match`. */
    rules: z.array(Rule).nullable().optional(),
  })
  .meta({ id: 'DeliveryPreview' });
type Preview = z.infer<typeof Preview>;

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

/** One preview, or several under `runs`; `left_out` says how many more there are, and is absent where there are none. */
export const DryRun = component(
  'DryRun',
  z.union([
    Preview,
    z.strictObject({ status: z.literal('dry_run'), runs: z.array(Preview), left_out: z.number().optional() }),
  ]),
  PREVIEW,
);
export type DryRun = z.infer<typeof DryRun>;

type Taken = Extract<Verdict, { status: DeliveryAnswer['status'] }>;

/** Of a delivery that was read and has room. */
export function takenView(verdict: Taken): DeliveryAnswer {
  if (verdict.status === 'skipped_testing' || verdict.status === 'suspended') return verdict;
  const { runId, ...rest } = verdict;
  return { ...rest, run_id: runId };
}

export function outcomeView(verdict: Verdict): Outcome {
  switch (verdict.status) {
    case 'at_capacity':
      return {
        status: verdict.status,
        message: verdict.message,
        active_runs: verdict.activeRuns,
        max_concurrent_runs: verdict.maxConcurrentRuns,
      };
    case 'no_pipeline':
    case 'unavailable':
      return verdict;
    default:
      return takenView(verdict);
  }
}

export const previewView = ({ dedup, context, closest, ...rest }: Previewed): Preview => ({
  ...rest,
  ...(closest && { closest: closest.map((one) => viewOf(Closest, one)) }),
  dedup: { duplicate: dedup.duplicate, run_id: dedup.runId },
  context: contextView({ ...context }),
});
