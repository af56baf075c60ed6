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
  Payload,
  Ratio,
  RunSeconds,
  Severity,
  StepSeconds,
  TemplateText,
  UrlTemplate,
} from './fields.ts';
import { DefinitionName, StepName } from './names.ts';
import { Notifications } from './notification.ts';
import { Readiness } from './readiness.ts';

/** Keys every entry may have, whatever its shape. */
const common = {
  when: ExpressionText.optional().describe('CEL; false or null skips the step'),
  on_failure: OnFailure.describe("what the step's failure means for its run: abort or continue, or both with a webhook")
    .default({
      policy: 'abort',
    })
    .transform((value) => (typeof value === 'string' ? { policy: value } : value)),
  readiness: Readiness.optional().describe("over the pipeline's, tier by tier"),
  notifications: Notifications.optional().describe("over the pipeline's, event by event"),
};

/** The gate: trust is compared with the threshold (Design 3). */
const gate = {
  confidence_threshold: Ratio.default(0.75).describe('trust below this does not pass'),
  on_low_confidence: z
    .enum(['escalate', 'abort', 'proceed'])
    .default('escalate')
    .describe('what happens when the gate is not passed'),
};

const agentCall = {
  agent: AgentName.describe('the agent that is asked'),
  prompt_template: TemplateText.min(1).describe('Handlebars text of the prompt'),
  model: Model.optional().describe("instead of the agent's own model"),
  output_schema: JsonObject.optional().describe('JSON Schema of further keys of the answer'),
  timeout_seconds: StepSeconds.default(300).describe('seconds that all attempts and iterations may take together'),
  retry: Retry.optional().describe('tries again after an error'),
  loop_until: LoopUntil.optional().describe('asks again until sure'),
  verifier: Verifier.optional().describe('a second opinion that may lower the confidence'),
  grounding: Grounding.optional().describe('scores how far the answer is supported'),
  deterministic_checks: Checks.default([]).describe('facts that a machine can test'),
  calibration: Calibration.optional().describe('measured accuracy in place of claimed confidence'),
  ...gate,
  ...common,
};

const human = {
  executor: z.literal('human').describe('waits for a decision'),
  prompt_template: TemplateText.min(1).describe('Handlebars text of the question'),
  timeout_seconds: RunSeconds.describe('seconds a question to a person stays open'),
  on_timeout: z.enum(['fail', 'escalate', 'proceed']).default('fail').describe('what happens when nobody answers'),
  fields: HumanFields.default([]).describe('what the person may fill in; becomes the output'),
  ...common,
};

const webhook = {
  executor: z.literal('webhook').describe('calls a URL'),
  url: UrlTemplate.describe('template; ${ENV} names must be allowed by the operator'),
  method: Method.default('POST').describe('of the request'),
  headers: Headers.default({}).describe('of the request; templates and ${ENV} as in url'),
  payload: Payload.optional().describe('request body'),
  timeout_seconds: StepSeconds.default(30).describe('seconds that all attempts and iterations may take together'),
  retry: Retry.optional().describe('tries again after an error'),
  ...common,
};

/** What a sub-run's context gets over its parent's; strings are templates. */
export const SubContext = z.strictObject({
  team: TemplateText.optional().describe('whom the sub-run is attributed to'),
  summary: TemplateText.optional().describe('Handlebars text; what the sub-run is about'),
  severity: Severity.optional().describe('of the sub-run'),
  labels: Labels.optional().describe("over the parent's, label by label; values are Handlebars texts"),
  metadata: JsonObject.optional().describe("over the parent's, key by key"),
});
export type SubContext = z.infer<typeof SubContext>;

const pipeline = {
  executor: z.literal('pipeline').describe('runs another pipeline and waits for it'),
  pipeline: DefinitionName.describe('the pipeline to run'),
  context: SubContext.optional().describe("over the parent's context"),
  timeout_seconds: RunSeconds.optional().describe('seconds the other pipeline may take'),
  ...gate,
  ...common,
};

const gateway = { executor: z.literal('gateway').describe('an agent of the gateway'), ...agentCall };
const external = { executor: z.literal('external').describe('an agent of another backend'), ...agentCall };

/** The keys of each executor, without those that depend on where the step stands. */
export const executorShapes = { gateway, external, human, webhook, pipeline };

const named = { name: StepName.describe('unique in its pipeline, also after "-" became "_"') };
const weighted = {
  ...named,
  weight: z.number().positive().max(1000).default(1).describe('share in join: weighted_average'),
};

/** One call of one executor, named: an entry of a pipeline (Design 3). */
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
      steps: z.array(BranchStep).min(1).max(LIMITS.branches).describe('one executor step each'),
    })
    .describe('branches that run at the same time'),
  ...groupCommon,
});
export type ParallelStep = z.infer<typeof ParallelStep>;

const RESERVED_VARIABLES = new Set(
  'summary severity source pipeline_name run_id team stage labels annotations metadata vars steps context fan_out run now output confidence response exit_code stdout stderr this list map type string int uint double bool bytes dyn true false null constructor prototype'.split(
    ' ',
  ),
);

export const FanOut = z.strictObject({
  over: ExpressionText.describe('CEL that yields a list'),
  as: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be a word')
    .refine((name) => !RESERVED_VARIABLES.has(name), 'is a name that templates and expressions already have')
    .default('item')
    .describe('the name of one item in templates and expressions'),
  max_items: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.fanOutItems)
    .default(50)
    .describe('a longer list is an error of the step'),
  max_parallel: z.number().int().min(1).max(LIMITS.fanOutParallel).default(4).describe('branches at a time'),
  on_empty: z.enum(['complete', 'skip', 'abort']).default('complete').describe('what an empty list means for the step'),
  join: z
    .enum(['all_must_pass', 'any_must_pass'])
    .default('all_must_pass')
    .describe('trust of the group: all_must_pass takes the lowest, any_must_pass the highest'),
  step: ItemStep.describe('runs once an item'),
});
export type FanOut = z.infer<typeof FanOut>;

export const FanOutStep = z.strictObject({
  ...named,
  fan_out: FanOut.describe('one branch an item of a list known at run time'),
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
