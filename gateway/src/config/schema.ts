import { DefinitionName } from '@signalbox/crds';
import { z } from 'zod';

const Seconds = z.number().positive().max(86_400);
const Glob = z.string().min(1).max(256);

export const ProviderConfig = z.strictObject({
  type: z.enum(['anthropic', 'openai', 'azure', 'google', 'openrouter', 'ollama', 'openai_compatible', 'demo']),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  api_key: z.string().optional(),
  /** `chat` speaks /chat/completions instead of /responses; only `openai` and `azure` read it. */
  api: z.enum(['responses', 'chat']).optional(),
  headers: z.record(z.string(), z.string()).default({}),
  default: z.boolean().default(false),
});
export type ProviderConfig = z.infer<typeof ProviderConfig>;

const StdioServer = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
  /** Resident memory of the server and all it starts; beyond it the server is restarted. */
  memory_limit_mib: z.int().min(16).max(1_048_576).default(512),
  tools_hash: z.string().optional(),
});
const HttpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).default({}),
  tools_hash: z.string().optional(),
});
const SecretRef = z.strictObject({ secret: z.strictObject({ name: z.string().min(1), key: z.string().min(1) }) });
const ImageServer = z.strictObject({
  image: z.string().min(1),
  port: z.number().int().min(1).max(65_535),
  path: z.string().startsWith('/').default('/mcp'),
  env: z.record(z.string(), z.union([z.string(), SecretRef])).default({}),
  resources: z.record(z.string(), z.unknown()).optional(),
  tools_hash: z.string().optional(),
});
export type StdioServer = z.infer<typeof StdioServer>;
export type HttpServer = z.infer<typeof HttpServer>;
export type ImageServer = z.infer<typeof ImageServer>;
export type ToolServerConfig = StdioServer | HttpServer | ImageServer;

/** Picks the shape by its distinguishing key first, so that an error names the key and not "invalid union". */
const ToolServerEntry = z.unknown().transform((value, context): ToolServerConfig => {
  const has = (key: string) => typeof value === 'object' && value !== null && key in value;
  const schema = has('command') ? StdioServer : has('url') ? HttpServer : has('image') ? ImageServer : null;
  if (schema === null) {
    context.addIssue({ code: 'custom', message: 'needs one of command, url or image' });
    return z.NEVER;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const unknownKey = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    const path = unknownKey === undefined ? issue.path : [...issue.path, unknownKey];
    context.addIssue({ code: 'custom', path, message: unknownKey === undefined ? issue.message : 'unknown key' });
  }
  return z.NEVER;
});

/** One side of a rule: globs for `server`, `tool`, `agent`; RE2 for `input_regex`. At least one key. */
const RuleTarget = z
  .strictObject({
    server: Glob.optional(),
    tool: Glob.optional(),
    agent: Glob.optional(),
    input_regex: z.string().min(1).optional(),
  })
  .refine((target) => Object.keys(target).length > 0, 'names no server, tool, agent or input_regex');
export const PolicyRule = z
  .strictObject({
    allow: RuleTarget.optional(),
    deny: RuleTarget.optional(),
    require_approval: RuleTarget.optional(),
    reason: z.string().max(1000).optional(),
  })
  .refine(
    (rule) => [rule.allow, rule.deny, rule.require_approval].filter(Boolean).length === 1,
    'needs exactly one of allow, deny, require_approval',
  )
  .refine((rule) => !rule.deny || rule.reason, 'a deny rule needs a reason');
export type PolicyRule = z.infer<typeof PolicyRule>;

export const ToolPolicyConfig = z.strictObject({
  default: z.enum(['allow', 'deny']).default('allow'),
  rules: z.array(PolicyRule).max(1000).default([]),
});
export type ToolPolicyConfig = z.infer<typeof ToolPolicyConfig>;

export const Limits = z.strictObject({
  max_concurrent_runs: z.number().int().min(1).max(10_000).default(10),
  max_queued_runs: z.number().int().min(0).max(100_000).default(100),
  max_iterations: z.number().int().min(1).max(1000).default(20),
  request_timeout_seconds: Seconds.default(180),
  tool_timeout_seconds: Seconds.default(30),
  tool_result_max_chars: z.number().int().min(100).max(1_000_000).default(50_000),
});
export type Limits = z.infer<typeof Limits>;

const Addresses = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

/** Where agents run. In mode `kubernetes` those that do not say otherwise have a pod of their own. */
const Runtime = z.strictObject({
  mode: z.enum(['process', 'kubernetes']).default('process'),
  /** Addresses of an agent's runners, `host`, `host:port` or `wss://host:port`; without an entry the sync manifest says. */
  agents: z.record(DefinitionName, Addresses).default({}),
  /** How long a run waits for a pod of its agent. */
  start_timeout_seconds: Seconds.default(60),
  /** How long a run waits for a pod whose connection broke. */
  reconnect_timeout_seconds: Seconds.default(10),
});

/** The operator's configuration file (Design 6). Unknown keys are errors. */
export const GatewayConfig = z.strictObject({
  server: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1'),
      port: z.number().int().min(0).max(65_535).default(18_780),
      metrics_auth: z.boolean().default(false),
      allowed_origins: z.array(z.string()).default([]),
      drain_seconds: z.number().min(0).max(600).default(25),
      tls: z.strictObject({ cert: z.string(), key: z.string() }).optional(),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
  identity_dir: z.string().min(1).default('identity'),
  agents_dir: z.string().min(1).default('agents'),
  managed_dir: z.string().min(1).optional(),
  providers: z.record(DefinitionName, ProviderConfig).default({}),
  mcp_servers: z.record(DefinitionName, ToolServerEntry).default({}),
  tool_policy: ToolPolicyConfig.prefault({}),
  tool_pinning: z.enum(['off', 'warn', 'enforce']).default('off'),
  limits: Limits.prefault({}),
  runtime: Runtime.prefault({}),
});
export type GatewayConfig = z.infer<typeof GatewayConfig>;
