import { z } from 'zod';
import { JsonObject, Tags, Text } from './fields.ts';
import { DefinitionName } from '../names.ts';

const ModelName = z.string().min(1).max(200);

/** `server` or `server/glob` of the server's tools. */
export const ToolPattern = z
  .string()
  .max(256)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}(\/[^\s/]+)?$/, 'must be "server" or "server/glob"');

export const AgentLimits = z.strictObject({
  max_iterations: z
    .number()
    .int()
    .min(1)
    .max(200)
    .optional()
    .describe("most turns of the model; the gateway's limit applies too"),
  timeout_seconds: z.number().int().min(1).max(86_400).optional().describe('seconds for a whole run of the agent'),
  max_total_tokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('maximum input and output tokens of all turns together'),
  max_tool_calls: z.number().int().nonnegative().optional().describe('maximum tool calls of one run; 0 forbids them'),
});
export type AgentLimits = z.infer<typeof AgentLimits>;

const Quantities = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .describe('cpu and memory, as in a pod specification');

const Texts = z.record(z.string().min(1).max(317), z.string().max(65_536));
const ObjectName = z.string().min(1).max(253);

/** Keys of `runtime` that go into the pods as they are. They reach outside a namespace, so that a tenant needs a right for each. */
export const PodFields = z.object({
  nodeSelector: Texts.optional().describe('labels of the nodes that may run the pods'),
  tolerations: z.array(JsonObject).max(50).optional().describe('taints of nodes that the pods bear'),
  affinity: JsonObject.optional().describe('nodes and pods that the pods want near or far'),
  topologySpreadConstraints: z
    .array(JsonObject)
    .max(50)
    .optional()
    .describe('how the pods spread over nodes and zones'),
  priorityClassName: ObjectName.optional().describe('which pods give way where nodes are full'),
  serviceAccountName: ObjectName.optional().describe('account of the pods; its token is not mounted'),
  imagePullSecrets: z
    .array(z.strictObject({ name: ObjectName.describe('name of a Secret of the namespace') }))
    .max(20)
    .optional()
    .describe("pull secrets, in addition to the operator's"),
  annotations: Texts.optional().describe('annotations of the pods'),
  labels: Texts.optional().describe("labels of the pods; the controller's own win"),
});

export type PodFields = z.infer<typeof PodFields>;

/** Where the agent runs; without a mode, where its definition lives: a file in the gateway's process, an object in its own pod. */
export const AgentRuntime = z.strictObject({
  mode: z.enum(['process', 'kubernetes']).optional().describe('in the process of the gateway or in its own pods'),
  replicas: z.number().int().min(0).max(100).optional().describe('number of pods'),
  resources: z
    .strictObject({ requests: Quantities.optional(), limits: Quantities.optional() })
    .optional()
    .describe('resources of the agent container'),
  ...PodFields.shape,
});
export type AgentRuntime = z.infer<typeof AgentRuntime>;

/** The keys of agent.yaml (Gateway 2). Limits left out are the gateway's. */
export const Agent = z.strictObject({
  name: DefinitionName.describe('name of the agent and of its folder'),
  description: Text.default('').describe('free text for people'),
  model: ModelName.describe('"provider/model", or a bare name for the default provider'),
  model_fallbacks: z.array(ModelName).max(8).default([]).describe('tried in order when the model cannot answer'),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('maximum output tokens of one answer; with Anthropic, thinking tokens are added'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('sampling temperature; not sent where it is not set, nor to models that accept none while thinking'),
  thinking_level: z
    .enum(['off', 'low', 'medium', 'high'])
    .optional()
    .describe('thinking effort, translated for the provider; without it the default of the model applies'),
  tools: z
    .array(ToolPattern)
    .max(64)
    .default([])
    .describe('tools that the agent may call, as "server" or "server/glob"'),
  limits: AgentLimits.default({}).describe("limits of one run, in addition to the gateway's"),
  output_schema: JsonObject.optional().describe(
    "JSON Schema of the answer, with the bounds of a step's output_schema, which replaces it",
  ),
  read_only: z.boolean().default(false).describe('true: only tools that declare themselves read-only'),
  require_approval: z
    .array(ToolPattern)
    .max(64)
    .default([])
    .describe('tools for which a person must approve every call'),
  tags: Tags.default([]).describe('tags for people'),
  runtime: AgentRuntime.default({}).describe('where the agent runs'),
});
export type Agent = z.infer<typeof Agent>;

/** The server of a tool pattern. */
export function serverOf(pattern: string): string {
  return pattern.split('/', 1)[0] ?? pattern;
}
