import { z } from 'zod';
import { DefinitionName } from '../names.ts';

const Text = z.string();
const Count = z.number().int().nonnegative();
/** Any object; a record would look at each of its keys and values. */
const JsonObject = z.looseObject({});

/** The caller's context, recorded with the run. The gateway shares its slots by `namespace`, where it has tenants, and by `pipeline`. */
export const RunMetadata = z.looseObject({
  run_id: Text.optional(),
  pipeline: Text.optional(),
  step_name: Text.optional(),
  team: Text.nullable().optional(),
  namespace: Text.optional(),
});
export type RunMetadata = z.infer<typeof RunMetadata>;

/** Parameters of `agent.run`. `input` is the rendered prompt; `timeout_ms` covers queueing and running. */
export const AgentRunParams = z.strictObject({
  agent: DefinitionName,
  input: Text,
  model: Text.min(1).max(200).optional(),
  session_key: Text.max(200).optional(),
  output_schema: JsonObject.optional(),
  timeout_ms: z.number().int().positive().optional(),
  idempotency_key: Text.min(1).max(500).optional(),
  metadata: RunMetadata.optional(),
  trace: z.strictObject({ stream: z.boolean().optional(), tool_result_max_chars: Count.optional() }).optional(),
  _meta: z.looseObject({ traceparent: Text.optional(), tracestate: Text.optional() }).optional(),
});
export type AgentRunParams = z.infer<typeof AgentRunParams>;

/** Of one call: with more, sums would leave the numbers that JavaScript can count with. */
export const MAX_TOKENS = 1_000_000_000;
const Tokens = Count.max(MAX_TOKENS);
export const Usage = z.object({ input_tokens: Tokens, output_tokens: Tokens, cached_input_tokens: Tokens.default(0) });
export type Usage = z.infer<typeof Usage>;

/** What one model used of a run that several answered. */
export const ModelUsage = Usage.extend({ provider: Text, model: Text });
export type ModelUsage = z.infer<typeof ModelUsage>;
const UsageByModel = z.array(ModelUsage).max(50).optional().catch(undefined);

/** One line of what happened in a run: a model call or a tool call, strings cut to the requested limits. */
export const TraceEntry = z.looseObject({
  type: z.enum(['llm_call', 'tool_call', 'tool_denied', 'approval']),
  started_at: Text,
  duration_ms: z.number().nonnegative(),
  model: Text.optional(),
  provider: Text.optional(),
  usage: Usage.optional(),
  call_id: Text.optional(),
  server: Text.optional(),
  tool: Text.optional(),
  input: z.unknown().optional(),
  result: Text.optional(),
  is_error: z.boolean().optional(),
  reason: Text.nullable().optional(),
  left_out: Count.optional().describe('Further entries of this type and tool that had no place'),
});
export type TraceEntry = z.infer<typeof TraceEntry>;

/**
 * What happened in a run, in order. A reader keeps entries of types that it does not know, and of known types with other
 * fields, as they are: a newer backend must not make a good answer unreadable. What is no object is left out.
 */
const Trace = z
  .array(z.unknown())
  .catch([])
  .default([])
  .transform((entries) => entries.filter((entry) => typeof entry === 'object' && entry !== null) as TraceEntry[]);

const TraceCut = z
  .boolean()
  .optional()
  .catch(undefined)
  .describe('The trace lacks entries, or inputs and results of some');

/** What was wrong with a run beside its answer, such as tools that were not available; one sentence each. */
const Warnings = z.array(Text.max(500)).max(20).catch([]).default([]);

/** What a run used, up to its end. A failed `agent.run` says it in `error.data`; what cannot be read counts as not said. */
export const AgentRunSpent = z.looseObject({
  model: Text.nullable().catch(null).default(null),
  provider: Text.nullable().catch(null).default(null),
  agent_version: Text.nullable().catch(null).default(null),
  usage: Usage.nullable().catch(null).default(null),
  usage_by_model: UsageByModel,
  duration_ms: z.number().nonnegative().nullable().catch(null).default(null),
  iterations: Count.catch(0).default(0),
  tool_calls: Count.catch(0).default(0),
  trace: Trace,
  trace_cut: TraceCut,
  warnings: Warnings,
});
export type AgentRunSpent = z.infer<typeof AgentRunSpent>;

/** Result of `agent.run`. `text` is the model's last text, `output` the JSON object in it when a schema was asked for. */
export const AgentRunResult = z.looseObject({
  run_id: Text,
  status: z.literal('completed'),
  text: Text,
  output: JsonObject.nullable().default(null),
  stop_reason: Text.nullable().default(null),
  model: Text.nullable().default(null),
  provider: Text.nullable().default(null),
  answered_by: Text.nullable().optional().describe('The model that answered, where the provider says so'),
  agent_version: Text.nullable().default(null),
  usage: Usage.nullable().default(null),
  usage_by_model: UsageByModel.describe('Where more than one model used tokens; `usage` is their sum'),
  duration_ms: z.number().nonnegative(),
  iterations: Count.default(1),
  tool_calls: Count.default(0),
  trace: Trace,
  trace_cut: TraceCut,
  warnings: Warnings,
});
export type AgentRunResult = z.infer<typeof AgentRunResult>;

const eventBase = { run_id: Text, ts: Text, idempotency_key: Text.optional() };
const toolFields = { call_id: Text, server: Text, tool: Text };

/** Parameters of the notification `agent.event`: one shape an event name; `ts` is ISO 8601. */
export const AgentEvent = z.discriminatedUnion('event', [
  z.looseObject({ ...eventBase, event: z.literal('accepted') }),
  z.looseObject({ ...eventBase, event: z.literal('queued'), position: Count }),
  z.looseObject({ ...eventBase, event: z.literal('started') }),
  z.looseObject({
    ...eventBase,
    event: z.literal('llm_call'),
    iteration: Count,
    model: Text,
    provider: Text,
    usage: Usage.optional(),
    duration_ms: z.number().nonnegative().optional(),
  }),
  z.looseObject({
    ...eventBase,
    event: z.literal('llm_retry'),
    model: Text,
    provider: Text,
    attempt: Count,
    delay_ms: Count,
    reason: Text,
  }),
  z.looseObject({ ...eventBase, event: z.literal('model_fallback'), from: Text, to: Text, reason: Text }),
  z.looseObject({ ...eventBase, event: z.literal('text'), text: Text }),
  z.looseObject({ ...eventBase, ...toolFields, event: z.literal('tool_call'), input: z.unknown() }),
  z.looseObject({
    ...eventBase,
    ...toolFields,
    event: z.literal('tool_result'),
    is_error: z.boolean(),
    result: Text,
    duration_ms: z.number().nonnegative(),
  }),
  z.looseObject({ ...eventBase, ...toolFields, event: z.literal('tool_denied'), reason: Text }),
  z.looseObject({ ...eventBase, ...toolFields, event: z.literal('approval_requested') }),
  z.looseObject({
    ...eventBase,
    ...toolFields,
    event: z.literal('approval_decided'),
    approved: z.boolean(),
    decided_by: Text.nullable().optional(),
  }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** `agent.cancel` and `agent.attach` name a run by the backend's id or by the caller's idempotency key. */
const RunReference = z
  .strictObject({ run_id: Text.optional(), idempotency_key: Text.optional() })
  .refine((ref) => ref.run_id !== undefined || ref.idempotency_key !== undefined, 'needs run_id or idempotency_key');

export const AgentCancelParams = RunReference;
export type AgentCancelParams = z.infer<typeof AgentCancelParams>;
export const AgentCancelResult = z.object({ cancelled: z.boolean() });
export type AgentCancelResult = z.infer<typeof AgentCancelResult>;

/** Answers like `agent.run` once the run ends; events go to the attached connection from then on. */
export const AgentAttachParams = RunReference;
export type AgentAttachParams = z.infer<typeof AgentAttachParams>;

/** Request of the server to its client: may this tool be called? The tool's timeout is paused meanwhile. */
export const ToolApprovalParams = z.looseObject({
  run_id: Text,
  call_id: Text,
  agent: Text,
  server: Text,
  tool: Text,
  input: z.unknown(),
  /** SHA-256 (hex) over the RFC 8785 JSON of `input`; the gateway always sends it. */
  input_sha256: Text.optional(),
  reason: Text.nullable().optional(),
  metadata: RunMetadata.optional(),
});
export type ToolApprovalParams = z.infer<typeof ToolApprovalParams>;
export const ToolApprovalResult = z.object({
  approved: z.boolean(),
  /** Of the input that was approved; the gateway compares it before it calls the tool. */
  input_sha256: Text.nullable().optional(),
  decided_by: Text.nullable().optional(),
  comment: Text.nullable().optional(),
});
export type ToolApprovalResult = z.infer<typeof ToolApprovalResult>;

export const ServerInfo = z.looseObject({
  name: Text,
  version: Text,
  protocol: z.literal(1),
  methods: z.array(Text).max(1000),
  /** Of which runs this connection answers tool approvals: of all, of those that it started, or of none. */
  approvals: z.enum(['all', 'own', 'none']).optional(),
});
export type ServerInfo = z.infer<typeof ServerInfo>;

/** One entry of `agents.list` `{agents}`. */
export const AgentSummary = z.looseObject({
  name: Text,
  model: Text.nullable(),
  description: Text.optional(),
  version: Text.nullable().optional(),
  /** What prevents it from answering, one sentence each. */
  warnings: z.array(Text).optional(),
});
export type AgentSummary = z.infer<typeof AgentSummary>;
/** The length is looked at before any entry is. */
export const AgentsList = z.object({ agents: z.array(AgentSummary).max(10_000) });
export type AgentsList = z.infer<typeof AgentsList>;
