import { z } from 'zod';
import { JsonObject, Tags, Text } from './fields.ts';
import { DefinitionName } from './names.ts';

const ModelName = z.string().min(1).max(200);

/** `server` or `server/glob` of the server's tools (Design 6). */
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
    .describe("turns of the model, where that is less than the gateway's"),
  timeout_seconds: z.number().int().min(1).max(86_400).optional().describe('for a whole run of the agent'),
  max_total_tokens: z.number().int().positive().optional().describe('input and output of all turns together'),
  max_tool_calls: z.number().int().nonnegative().optional().describe('of one run; 0 forbids them'),
});
export type AgentLimits = z.infer<typeof AgentLimits>;

const Quantities = z.record(z.string(), z.union([z.string(), z.number()])).describe('cpu and memory, as in a pod');

/** Where the agent runs; without a mode, where its definition lives: a file in the gateway's process, an object in its own pod. */
export const AgentRuntime = z.strictObject({
  mode: z.enum(['process', 'kubernetes']).optional().describe('in the process of the gateway, or in a pod of its own'),
  replicas: z.number().int().min(0).max(100).optional().describe('pods that share the runs'),
  resources: z
    .strictObject({ requests: Quantities.optional(), limits: Quantities.optional() })
    .optional()
    .describe('of the agent container, as in a pod'),
});
export type AgentRuntime = z.infer<typeof AgentRuntime>;

/** The keys of agent.yaml (Gateway 2, Design 6). Limits left out are the gateway's. */
export const Agent = z.strictObject({
  name: DefinitionName.describe('also the name of its folder'),
  description: Text.default('').describe('for people'),
  model: ModelName.describe('"provider/model", or a bare name for the default provider'),
  model_fallbacks: z.array(ModelName).max(8).default([]).describe('tried in order when the model cannot answer'),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe("of one answer; Anthropic's budget for thinking comes on top"),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('randomness of the model; not sent where left out, nor to a model that takes none while it thinks'),
  thinking_level: z
    .enum(['off', 'low', 'medium', 'high'])
    .optional()
    .describe('how long the model may think first, said in the words of its provider; left out, it decides'),
  tools: z.array(ToolPattern).max(64).default([]).describe('"server" or "server/glob" of what it may call'),
  limits: AgentLimits.default({}).describe("of one run, beside the gateway's own"),
  output_schema: JsonObject.optional().describe("JSON Schema of the answer; a step's own wins"),
  read_only: z.boolean().default(false).describe('only tools that call themselves read-only'),
  require_approval: z.array(ToolPattern).max(64).default([]).describe('tools that a human must allow, call by call'),
  tags: Tags.default([]).describe('for people'),
  runtime: AgentRuntime.default({}).describe('where it runs'),
});
export type Agent = z.infer<typeof Agent>;

/** The server of a tool pattern. */
export function serverOf(pattern: string): string {
  return pattern.split('/', 1)[0] ?? pattern;
}
