import { z } from 'zod';
import { Calibration, Checks, Grounding, HumanFields, LoopUntil, OnFailure, Retry, Verifier } from './evidence.ts';
import {
  AgentName,
  ExpressionText,
  Headers,
  JsonObject,
  Labels,
  LIMITS,
  Method,
  Model,
  OnMissingValue,
  Payload,
  Ratio,
  RunSeconds,
  Severity,
  StepSeconds,
  TemplateText,
  UrlTemplate,
} from './fields.ts';
import { DefinitionName, StepName } from '../names.ts';
import { Notifications } from './notification.ts';
import { Readiness } from './readiness.ts';

/** Keys every entry may have, whatever its shape. */
const common = {
  when: ExpressionText.optional().describe('CEL; false or null skips the step'),
  on_failure: OnFailure.describe('abort (the run fails) or continue, or a map that adds a webhook')
    .default({
      policy: 'abort',
    })
    .transform((value) => (typeof value === 'string' ? { policy: value } : value)),
  readiness: Readiness.nullable()
    .optional()
    .describe("replaces the pipeline's criteria, tier by tier; null asks nothing of the step"),
  notifications: Notifications.optional().describe("replaces the pipeline's messages, event by event"),
};

/** The gate: trust is compared with the threshold. */
const gate = {
  confidence_threshold: Ratio.default(0.75).describe('minimum trust with which the step passes'),
  on_low_confidence: z
    .enum(['escalate', 'abort', 'proceed'])
    .default('escalate')
    .describe('what the run does when the gate is not passed'),
};

const agentCall = {
  agent: AgentName.describe('name of the agent'),
  prompt_template: TemplateText.min(1).describe('prompt, a Handlebars template'),
  model: Model.optional().describe("replaces the agent's own model"),
  output_schema: JsonObject.optional().describe(
    'JSON Schema of additional keys of the answer: at most 64 KiB, 2,000 values and 200 $ref, which must not multiply',
  ),
  on_missing_value: OnMissingValue.optional(),
  timeout_seconds: StepSeconds.default(300).describe('seconds for all attempts and iterations together'),
  retry: Retry.optional().describe('retries after an error'),
  loop_until: LoopUntil.optional().describe('asks again until the confidence is high enough'),
  verifier: Verifier.optional().describe('a second opinion that may lower the confidence'),
  grounding: Grounding.optional().describe('scores how far the answer is supported'),
  deterministic_checks: Checks.default([]).describe('checks without a model; a failed one sets the trust to 0'),
  calibration: Calibration.optional().describe('use of the measured accuracy instead of the stated confidence'),
  ...gate,
  ...common,
};

const human = {
  executor: z.literal('human').describe('waits for the decision of a person'),
  prompt_template: TemplateText.min(1).describe('question, a Handlebars template'),
  timeout_seconds: RunSeconds.describe('seconds to wait for the decision'),
  on_timeout: z
    .enum(['fail', 'escalate', 'proceed'])
    .default('fail')
    .describe('what the run does without a decision in time'),
  fields: HumanFields.default([]).describe('form fields for the person; their values become the output'),
  required: z.int().min(1).max(2).optional().describe('persons who have to approve; the operator may ask for more'),
  not_the_starter: z.boolean().optional().describe('whether the person who started the run may not approve'),
  ...common,
};

const webhook = {
  executor: z.literal('webhook').describe('calls a URL'),
  url: UrlTemplate.describe('template; ${ENV} names must be allowed by the operator'),
  method: Method.default('POST').describe('HTTP method'),
  headers: Headers.default({}).describe('request headers; templates and ${ENV} as in url'),
  payload: Payload.optional().describe('request body'),
  on_missing_value: OnMissingValue.optional(),
  timeout_seconds: StepSeconds.default(30).describe('seconds for all attempts and iterations together'),
  retry: Retry.optional().describe('retries after an error'),
  ...common,
};

/** Changes of a sub-run's context against its parent's; strings are templates. */
export const SubContext = z.strictObject({
  team: TemplateText.optional().describe('team of the sub-run'),
  summary: TemplateText.optional().describe('summary of the sub-run, a Handlebars template'),
  severity: Severity.optional().describe('severity of the sub-run'),
  labels: Labels.optional().describe(
    "added to the parent's labels, or replacing them by name; values are Handlebars templates",
  ),
  metadata: JsonObject.optional().describe("added to the parent's metadata, or replacing it by key"),
});
export type SubContext = z.infer<typeof SubContext>;

const pipeline = {
  executor: z.literal('pipeline').describe('runs another pipeline and waits for it'),
  pipeline: DefinitionName.describe('the pipeline to run; one run has at most 2,000 sub-runs at all levels together'),
  context: SubContext.optional().describe("changes to the parent's context"),
  on_missing_value: OnMissingValue.optional(),
  timeout_seconds: RunSeconds.optional().describe('seconds for the other pipeline'),
  ...gate,
  ...common,
};

const gateway = { executor: z.literal('gateway').describe('an agent of the gateway'), ...agentCall };
const external = { executor: z.literal('external').describe('an agent of another backend'), ...agentCall };

/** The keys of each executor, without those that depend on the place of the step. */
export const executorShapes = { gateway, external, human, webhook, pipeline };

const named = { name: StepName.describe('unique in its pipeline, also when "-" is replaced by "_"') };
const weighted = {
  ...named,
  weight: z.number().positive().max(1000).default(1).describe('weight in join: weighted_average'),
};

/** One call of one executor, named: an entry of a pipeline. */
export const ExecutorStep = z.discriminatedUnion('executor', [
  z.strictObject({ ...named, ...gateway }),
  z.strictObject({ ...named, ...external }),
  z.strictObject({ ...named, ...human }),
  z.strictObject({ ...named, ...webhook }),
  z.strictObject({ ...named, ...pipeline }),
]);
export type ExecutorStep = z.infer<typeof ExecutorStep>;
export type AgentStep = Extract<ExecutorStep, { executor: 'gateway' | 'external' }>;
export type HumanStep = Extract<ExecutorStep, { executor: 'human' }>;
export type WebhookStep = Extract<ExecutorStep, { executor: 'webhook' }>;
export type PipelineStep = Extract<ExecutorStep, { executor: 'pipeline' }>;

/** One branch of a parallel group: an executor step with a weight. */
export const BranchStep = z.discriminatedUnion('executor', [
  z.strictObject({ ...weighted, ...gateway }),
  z.strictObject({ ...weighted, ...external }),
  z.strictObject({ ...weighted, ...human }),
  z.strictObject({ ...weighted, ...webhook }),
  z.strictObject({ ...weighted, ...pipeline }),
]);
export type BranchStep = z.infer<typeof BranchStep>;

/** The step a fan-out runs for every item; its branches are named after the fan-out. */
export const ItemStep = z.discriminatedUnion('executor', [
  z.strictObject(gateway),
  z.strictObject(external),
  z.strictObject(human),
  z.strictObject(webhook),
  z.strictObject(pipeline),
]);
export type ItemStep = z.infer<typeof ItemStep>;

export const Join = z.enum(['all_must_pass', 'any_must_pass', 'weighted_average']);
export type Join = z.infer<typeof Join>;

const groupCommon = {
  timeout_seconds: RunSeconds.optional().describe('seconds for all branches together'),
  ...gate,
  ...common,
};

export const ParallelStep = z.strictObject({
  ...named,
  parallel: z
    .strictObject({
      join: Join.default('all_must_pass').describe(
        'trust of the group: all_must_pass takes the lowest, any_must_pass the highest',
      ),
      steps: z.array(BranchStep).min(1).max(LIMITS.branches).describe('branches, each an executor step'),
    })
    .describe('branches that run in parallel'),
  ...groupCommon,
});
export type ParallelStep = z.infer<typeof ParallelStep>;

const RESERVED_VARIABLES = new Set(
  'summary severity source pipeline_name run_id team stage labels annotations metadata vars steps context fan_out run now output confidence response exit_code stdout stderr this list map type string int uint double bool bytes dyn true false null constructor prototype'.split(
    ' ',
  ),
);

export const FanOut = z.strictObject({
  over: ExpressionText.describe('CEL expression whose value is a list'),
  as: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be a letter followed by letters, digits or _')
    .refine((name) => !RESERVED_VARIABLES.has(name), 'is a name that templates and expressions already have')
    .default('item')
    .describe('variable name of the item in templates and expressions'),
  max_items: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.fanOutItems)
    .default(50)
    .describe('longest allowed list; a longer one fails the step'),
  max_parallel: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.fanOutParallel)
    .default(4)
    .describe('branches that run at the same time; fewer where one run and its sub-runs work on 200 already'),
  on_empty: z.enum(['complete', 'skip', 'abort']).default('complete').describe('what the step does with an empty list'),
  join: z
    .enum(['all_must_pass', 'any_must_pass'])
    .default('all_must_pass')
    .describe('trust of the group: all_must_pass takes the lowest, any_must_pass the highest'),
  step: ItemStep.describe('executor step that runs once for each item'),
});
export type FanOut = z.infer<typeof FanOut>;

export const FanOutStep = z.strictObject({
  ...named,
  fan_out: FanOut.describe('one branch for each item of a list that is known at run time'),
  ...groupCommon,
});
export type FanOutStep = z.infer<typeof FanOutStep>;

/** One entry of a pipeline after `use:` was expanded: an executor step, a parallel group or a fan-out. */
export const Step = z.union([ExecutorStep, ParallelStep, FanOutStep]);
export type Step = z.infer<typeof Step>;

export function isParallel(step: Step): step is ParallelStep {
  return 'parallel' in step;
}

export function isFanOut(step: Step): step is FanOutStep {
  return 'fan_out' in step;
}
