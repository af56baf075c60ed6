import { Agent, ObjectReference } from '@signalbox/crds';
import { z } from 'zod';

/** Answers as the OpenAPI document describes them. */
export const AgentSummaryView = z.object({
  name: z.string(),
  model: z.string(),
  model_fallbacks: z.array(z.string()),
  tools: z.array(z.string()),
  version: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  discovered_tools: z.array(z.object({ server: z.string(), name: z.string(), hash: z.string() })),
  managed_by: ObjectReference.nullable(),
});

export const AgentDetail = z.object({
  name: z.string(),
  version: z.string(),
  config: Agent,
  agent_yaml: z.string(),
  soul_md: z.string(),
  managed_by: ObjectReference.nullable(),
});

export const ValidationItemView = z.object({
  agent: z.string(),
  field: z.string(),
  value: z.unknown(),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
});

export const HealthView = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  agents: z.int(),
  active_runs: z.int(),
  max_concurrent_runs: z.int(),
  mcp_servers: z.record(z.string(), z.object({ running: z.boolean(), restart_count: z.int() })),
});

export const ProviderViewSchema = z.object({
  name: z.string(),
  configured: z.boolean(),
  prefix: z.string().nullable(),
});

export const ToolServerRow = z.object({
  name: z.string(),
  transport: z.enum(['stdio', 'http', 'image']),
  running: z.boolean(),
  state: z.enum(['starting', 'running', 'backoff', 'stopped']),
  pid: z.int().nullable(),
  tool_count: z.int(),
  restart_count: z.int(),
  started_at: z.string().nullable(),
  last_error: z.string().nullable(),
  tools_hash: z.string().nullable(),
  tools_pinned: z.boolean(),
});

export const ToolRow = z.object({
  server: z.string(),
  name: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
  annotations: z.record(z.string(), z.unknown()),
  tools_hash: z.string().nullable(),
});

export const PolicyRuleRow = z.object({
  index: z.int(),
  action: z.enum(['allow', 'deny', 'require_approval']),
  server: z.string().nullable(),
  tool: z.string().nullable(),
  agent: z.string().nullable(),
  input_regex: z.string().nullable(),
  reason: z.string().nullable(),
});

export const ErrorView = z.object({
  detail: z.object({
    type: z.enum(['unauthorized', 'forbidden', 'validation', 'not_found', 'collision', 'internal']),
    message: z.string(),
    errors: z.array(ValidationItemView).optional(),
    managed_by: ObjectReference.optional(),
  }),
});
