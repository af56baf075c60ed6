import { z } from 'zod';
import {
  AgentName,
  ExpressionText,
  Headers,
  Model,
  Payload,
  Ratio,
  StepSeconds,
  TemplateText,
  Text,
  UrlTemplate,
} from './fields.ts';
import { DefinitionName } from './names.ts';

const Executor = z.enum(['gateway', 'external']).default('gateway').describe('which backend runs the agent');

/** A second opinion that may only lower the confidence of a step (Design 3, the gate). */
export const Verifier = z
  .strictObject({
    executor: Executor,
    agent: AgentName.describe('the agent that verifies'),
    mode: z
      .enum(['critic', 'independent'])
      .default('independent')
      .describe('critic sees the answer, independent works the task again'),
    combination_strategy: z
      .enum(['minimum', 'veto'])
      .default('minimum')
      .describe(
        'minimum takes the lower confidence; veto changes nothing unless the verifier is below veto_floor, then takes the verifier',
      ),
    veto_floor: Ratio.optional().describe('only with veto; 0.5 unless given'),
    when: ExpressionText.optional().describe('CEL; verifies only where it is true'),
    model: Model.optional().describe("instead of the agent's own model"),
    prompt_template: TemplateText.optional().describe("instead of the mode's own prompt"),
    timeout_seconds: StepSeconds.default(120).describe('seconds it may take'),
  })
  .refine((verifier) => verifier.veto_floor === undefined || verifier.combination_strategy === 'veto', {
    path: ['veto_floor'],
    message: 'has a meaning only with combination_strategy: veto',
  });
export type Verifier = z.infer<typeof Verifier>;

/** A judge that scores how far an answer is supported by what the step saw; shadow mode unless `enforce`. */
export const Grounding = z.strictObject({
  executor: Executor,
  agent: AgentName.describe('the agent that judges'),
  enforce: z.boolean().default(false).describe('true: trust is never above the score'),
  model: Model.optional().describe("instead of the agent's own model"),
  prompt_template: TemplateText.optional().describe('instead of the built-in prompt'),
  timeout_seconds: StepSeconds.default(120).describe('seconds it may take'),
});
export type Grounding = z.infer<typeof Grounding>;

const checkBase = {
  name: DefinitionName.describe('unique in its step'),
  timeout_seconds: StepSeconds.max(600).default(30).describe('seconds it may take'),
};

/** Runs `sh -c run` with only `env` and PATH; `run` is never a template. Needs `security.allow_shell_checks`. */
export const ShellCheck = z.strictObject({
  type: z.literal('shell').describe('what kind of check it is'),
  ...checkBase,
  run: z.string().min(1).max(8192).describe('shell text, taken literally'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'is no variable name'), TemplateText)
    .default({})
    .describe('the only way for a value to reach the command'),
  expect: ExpressionText.default('exit_code == 0').describe('CEL over exit_code, stdout, stderr and the context'),
});
export type ShellCheck = z.infer<typeof ShellCheck>;

export const WebhookCheck = z.strictObject({
  type: z.literal('webhook').describe('what kind of check it is'),
  ...checkBase,
  method: z.enum(['GET', 'POST']).default('GET').describe('of the request'),
  url: UrlTemplate.describe('template; ${ENV} names must be allowed by the operator'),
  headers: Headers.default({}).describe('of the request; templates and ${ENV} as in url'),
  payload: Payload.optional().describe('request body; POST only'),
  expect: ExpressionText.default('response.status >= 200 && response.status < 300').describe(
    'CEL over response {status, headers, body} and the context',
  ),
});
export type WebhookCheck = z.infer<typeof WebhookCheck>;

/** Facts that a machine can test; any failed check sets trust to 0. */
export const Check = z.discriminatedUnion('type', [ShellCheck, WebhookCheck]);
export type Check = z.infer<typeof Check>;

export const Checks = z
  .array(Check)
  .max(16)
  .superRefine((checks, context) => {
    checks.forEach((check, index) => {
      if (checks.findIndex(({ name }) => name === check.name) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${check.name}" is used twice` });
      if (check.type === 'webhook' && check.method === 'GET' && check.payload !== undefined)
        context.addIssue({ code: 'custom', path: [index, 'payload'], message: 'needs method: POST' });
    });
  });

/** Whether measured accuracy replaces claimed confidence in the gate. */
export const Calibration = z.strictObject({
  enforce: z.boolean().default(false).describe('true: the gate uses the calibrated mean of the bin'),
  on_uncalibrated: z
    .enum(['escalate', 'proceed'])
    .default('escalate')
    .describe('what happens while there is too little evidence'),
});
export type Calibration = z.infer<typeof Calibration>;

/** Asks again with the earlier answer until the confidence is reached. */
export const LoopUntil = z.strictObject({
  confidence: Ratio.describe('stop as soon as this is reached'),
  max_iterations: z.number().int().min(1).max(10).default(3).describe('times it asks at most'),
});
export type LoopUntil = z.infer<typeof LoopUntil>;

export const Retry = z
  .strictObject({
    attempts: z.number().int().min(1).max(10).default(3).describe('all attempts, the first included'),
    backoff: z.enum(['fixed', 'exponential']).default('exponential').describe('whether the pause doubles'),
    delay_seconds: z.number().min(0).max(3600).default(2).describe('pause before the second attempt'),
    max_delay_seconds: z.number().min(0).max(3600).default(30).describe('longest pause'),
  })
  .describe('tries again after an error of the backend');
export type Retry = z.infer<typeof Retry>;

export const FailureWebhook = z.strictObject({
  url: UrlTemplate,
  headers: Headers.default({}),
  payload: Payload.optional(),
});
export type FailureWebhook = z.infer<typeof FailureWebhook>;

const FailurePolicy = z.enum(['abort', 'continue']);

/** What a step's failure means for its run; a bare word is the policy. */
export const OnFailure = z.union([
  FailurePolicy,
  z.strictObject({
    policy: FailurePolicy.default('abort').describe('abort ends the run as failed; continue goes on'),
    webhook: FailureWebhook.optional().describe('called once when the step has failed'),
  }),
]);
export type OnFailure = z.infer<typeof OnFailure>;

export const HumanField = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'must be a word')
      .describe('its key in the output'),
    type: z.enum(['string', 'integer', 'number', 'boolean']).default('string').describe('what may be entered'),
    description: Text.optional().describe('for the person who fills it in'),
    required: z.boolean().default(false).describe('an approval needs it'),
    options: z
      .array(z.union([z.string(), z.number()]))
      .min(1)
      .max(50)
      .optional()
      .describe('the only values that may be chosen'),
    default: z.union([z.string(), z.number(), z.boolean()]).optional().describe('what stands in the form at first'),
  })
  .superRefine((field, context) => {
    if (field.default !== undefined && !hasType(field.default, field.type))
      context.addIssue({ code: 'custom', path: ['default'], message: `must be of type ${field.type}` });
    if (field.options?.some((option) => !hasType(option, field.type)))
      context.addIssue({ code: 'custom', path: ['options'], message: `must all be of type ${field.type}` });
  });
export type HumanField = z.infer<typeof HumanField>;

export const HumanFields = z
  .array(HumanField)
  .max(20)
  .refine((fields) => new Set(fields.map(({ name }) => name)).size === fields.length, 'names a field twice');

function hasType(value: unknown, type: 'string' | 'integer' | 'number' | 'boolean'): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}
