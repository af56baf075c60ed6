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
import { DefinitionName } from '../names.ts';

const Executor = z.enum(['gateway', 'external']).default('gateway').describe('backend of the agent');

/** A second opinion that may only lower the confidence of a step. */
export const Verifier = z
  .strictObject({
    executor: Executor,
    agent: AgentName.describe('the agent that verifies'),
    mode: z
      .enum(['critic', 'independent'])
      .default('independent')
      .describe('critic: sees the answer; independent: solves the task again without it'),
    combination_strategy: z
      .enum(['minimum', 'veto'])
      .default('minimum')
      .describe(
        'minimum: the lower confidence; veto: that of the verifier where it is below veto_floor, else no change',
      ),
    veto_floor: Ratio.optional().describe('only with veto; default 0.5'),
    when: ExpressionText.optional().describe('CEL; the verifier runs only where it is true'),
    model: Model.optional().describe("replaces the agent's own model"),
    prompt_template: TemplateText.optional().describe('replaces the built-in prompt of the mode'),
    timeout_seconds: StepSeconds.default(120).describe('timeout in seconds'),
  })
  .refine((verifier) => verifier.veto_floor === undefined || verifier.combination_strategy === 'veto', {
    path: ['veto_floor'],
    message: 'is allowed only with combination_strategy: veto',
  });
export type Verifier = z.infer<typeof Verifier>;

/** A judge that scores how far an answer is supported by what the step saw; shadow mode unless `enforce`. */
export const Grounding = z.strictObject({
  executor: Executor,
  agent: AgentName.describe('the agent that judges'),
  enforce: z.boolean().default(false).describe('true: the score limits the trust; false: it is only recorded'),
  model: Model.optional().describe("replaces the agent's own model"),
  prompt_template: TemplateText.optional().describe('replaces the built-in prompt'),
  timeout_seconds: StepSeconds.default(120).describe('timeout in seconds'),
});
export type Grounding = z.infer<typeof Grounding>;

const checkBase = {
  name: DefinitionName.describe('unique in its step'),
  timeout_seconds: StepSeconds.max(600).default(30).describe('timeout in seconds'),
};

/** Runs `sh -c run` with only `env` and PATH; `run` is never a template. Needs `security.allow_shell_checks`. */
export const ShellCheck = z.strictObject({
  type: z.literal('shell').describe('kind of check'),
  ...checkBase,
  run: z.string().min(1).max(8192).describe('shell command, never a template'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'is not a valid variable name'), TemplateText)
    .default({})
    .describe('environment of the command, the only way to pass values; templates'),
  expect: ExpressionText.default('exit_code == 0').describe('CEL over exit_code, stdout, stderr and the context'),
});
export type ShellCheck = z.infer<typeof ShellCheck>;

export const WebhookCheck = z.strictObject({
  type: z.literal('webhook').describe('kind of check'),
  ...checkBase,
  method: z.enum(['GET', 'POST']).default('GET').describe('HTTP method'),
  url: UrlTemplate.describe('template; ${ENV} names must be allowed by the operator'),
  headers: Headers.default({}).describe('request headers; templates and ${ENV} as in url'),
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
  enforce: z
    .boolean()
    .default(false)
    .describe('true: the gate uses the measured accuracy of the bin instead of the confidence'),
  on_uncalibrated: z
    .enum(['escalate', 'proceed'])
    .default('escalate')
    .describe('what the step does while there is too little evidence'),
});
export type Calibration = z.infer<typeof Calibration>;

/** Asks again with the earlier answer until the confidence is reached. */
export const LoopUntil = z.strictObject({
  confidence: Ratio.describe('confidence that ends the loop'),
  max_iterations: z.number().int().min(1).max(10).default(3).describe('maximum number of iterations'),
});
export type LoopUntil = z.infer<typeof LoopUntil>;

export const Retry = z
  .strictObject({
    attempts: z.number().int().min(1).max(10).default(3).describe('maximum number of attempts, including the first'),
    backoff: z
      .enum(['fixed', 'exponential'])
      .default('exponential')
      .describe('exponential doubles the pause each time'),
    delay_seconds: z.number().min(0).max(3600).default(2).describe('pause before the second attempt'),
    max_delay_seconds: z.number().min(0).max(3600).default(30).describe('longest pause'),
  })
  .describe('retries after an error of the backend');
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
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'must be a letter or _ followed by letters, digits or _')
      .describe('key in the output'),
    type: z.enum(['string', 'integer', 'number', 'boolean']).default('string').describe('type of the value'),
    description: Text.optional().describe('help text of the field'),
    required: z.boolean().default(false).describe('an approval needs a value'),
    options: z
      .array(z.union([z.string(), z.number()]))
      .min(1)
      .max(50)
      .optional()
      .describe('allowed values'),
    default: z.union([z.string(), z.number(), z.boolean()]).optional().describe('initial value in the form'),
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
