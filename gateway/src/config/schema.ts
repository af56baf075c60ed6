import { DefinitionName } from '@signalbox/crds';
import { z } from 'zod';
import { Seconds, ToolServerEntry } from './tool-server-schema.ts';

const Glob = z.string().min(1).max(256);

export const ProviderConfig = z.strictObject({
  type: z
    .enum(['anthropic', 'openai', 'azure', 'google', 'openrouter', 'ollama', 'openai_compatible', 'demo'])
    .describe('The API of the provider; `demo` answers from a script without any model'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of the API, where it is not the usual one'),
  api_key: z.string().optional().describe('Its key; write `${NAME}` to take it from the environment'),
  api: z
    .enum(['responses', 'chat'])
    .optional()
    .describe('`chat` speaks /chat/completions instead of /responses; read by `openai` and `azure` only'),
  headers: z.record(z.string(), z.string()).default({}).describe('Headers of every request'),
  default: z.boolean().default(false).describe('Whether model names without a provider go here'),
  cooldown: z
    .strictObject({
      failures: z.number().int().min(1).max(1_000_000).default(3).describe('So many failed requests in a row'),
      seconds: Seconds.default(30).describe('Rest of the model; then one call probes it'),
    })
    .prefault({})
    .describe('When a model of this provider rests: agents ask their other models first'),
});
export type ProviderConfig = z.infer<typeof ProviderConfig>;

/** One side of a rule: globs for `server`, `tool`, `agent`; RE2 for `input_regex`. At least one key. */
const RuleTarget = z
  .strictObject({
    server: Glob.optional().describe('Glob of tool servers'),
    tool: Glob.optional().describe('Glob of tools'),
    agent: Glob.optional().describe('Glob of agents'),
    input_regex: z.string().min(1).optional().describe('RE2 that the input, as JSON, must match somewhere'),
  })
  .refine((target) => Object.keys(target).length > 0, 'names no server, tool, agent or input_regex');
export const PolicyRule = z
  .strictObject({
    allow: RuleTarget.optional().describe('Calls that are made'),
    deny: RuleTarget.optional().describe('Calls that are refused'),
    require_approval: RuleTarget.optional().describe('Calls that wait for the approval of a person'),
    reason: z.string().max(1000).optional().describe('Reason given to the agent; required for a deny rule'),
  })
  .refine(
    (rule) => [rule.allow, rule.deny, rule.require_approval].filter(Boolean).length === 1,
    'needs exactly one of allow, deny, require_approval',
  )
  .refine((rule) => !rule.deny || rule.reason, 'a deny rule needs a reason');
export type PolicyRule = z.infer<typeof PolicyRule>;

export const ToolPolicyConfig = z.strictObject({
  default: z.enum(['allow', 'deny']).default('allow').describe('What happens to a call that no rule matches'),
  rules: z
    .array(PolicyRule)
    .max(1000)
    .default([])
    .describe('One of `allow`, `deny`, `require_approval` each; the first that matches decides'),
});
export type ToolPolicyConfig = z.infer<typeof ToolPolicyConfig>;

export const Limits = z.strictObject({
  max_concurrent_runs: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(10)
    .describe('Agent runs at a time, of one tenant three quarters'),
  max_queued_runs: z
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe('Agent runs that may wait for a slot, of one tenant three quarters'),
  max_waiting_approvals: z
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe(
      'Tool approvals whose agent run gives its slot back while it waits, of one tenant three quarters; a further one keeps its slot',
    ),
  max_iterations: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(20)
    .describe('Most turns of a model in a run; an agent may set fewer, not more'),
  request_timeout_seconds: Seconds.default(180).describe('How long an answer of a model may take'),
  tool_timeout_seconds: Seconds.default(30).describe('How long an answer of a tool may take'),
  tool_result_max_chars: z
    .number()
    .int()
    .min(100)
    .max(1_000_000)
    .default(50_000)
    .describe('Longer results of tools are cut'),
});
export type Limits = z.infer<typeof Limits>;

const Otel = z.strictObject({
  enabled: z.boolean().default(false).describe('Send spans of runs, model calls and tool calls'),
  exporter: z.enum(['otlp', 'console']).default('otlp').describe('To a collector over HTTP, or as lines of the log'),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of the collector, with or without `/v1/traces`; without it, the `OTEL_EXPORTER_OTLP_*` variables and their defaults apply',
    ),
  service_name: z
    .string()
    .min(1)
    .optional()
    .describe('Name of this service in traces; without it, `OTEL_SERVICE_NAME` or `signalbox-gateway`'),
});

const Addresses = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

/** Where agents run. In mode `kubernetes` managed agents run in their own pods by default. */
const Runtime = z.strictObject({
  mode: z
    .enum(['process', 'kubernetes'])
    .default('process')
    .describe('Where agents run: inside the gateway, or each in its own pod'),
  agents: z
    .record(DefinitionName, Addresses)
    .default({})
    .describe(
      "Addresses of an agent's runners, `host`, `host:port` or `wss://host:port`; without an entry the sync manifest decides, for agents of custom resources",
    ),
  start_timeout_seconds: Seconds.default(60).describe('How long a run waits for a pod of its agent'),
  reconnect_timeout_seconds: Seconds.default(10).describe('How long a run waits for a pod whose connection broke'),
});

/** The operator's configuration file. Unknown keys are errors. */
export const GatewayConfig = z.strictObject({
  server: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
      port: z.number().int().min(0).max(65_535).default(18_780).describe('Port to listen on; 0 takes a free one'),
      pod_name: z
        .string()
        .default('')
        .describe(
          'Name of the pod, which `GET /agents` answers in the header `x-signalbox-pod` for the status of objects; the chart sets it',
        ),
      metrics_auth: z.boolean().default(false).describe('Whether `/metrics` needs a token'),
      allowed_origins: z.array(z.string()).default([]).describe('Browser origins that may open `/rpc`'),
      drain_seconds: z.number().min(0).max(600).default(25).describe('How long running agents may take after SIGTERM'),
      tls: z
        .strictObject({
          cert: z.string().describe('File of the certificate'),
          key: z.string().describe('File of its key'),
          client_ca: z
            .string()
            .optional()
            .describe('File of a certificate authority; clients must then present a certificate that it signed'),
        })
        .optional()
        .describe('Serve TLS; the files are read again on SIGHUP and when they change'),
    })
    .prefault({})
    .describe('Where the service listens'),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('Lowest level that is written'),
    })
    .prefault({})
    .describe('The log: one JSON object a line'),
  identity_dir: z.string().min(1).default('identity').describe('Folder of minted tokens'),
  isolation_hide: z
    .array(z.string().min(1))
    .max(100)
    .default([])
    .describe(
      'Further files and folders that are empty for tool servers in namespaces: what holds secrets of other programs of the same user. No links in folders in which the gateway may write',
    ),
  identity: z
    .strictObject({
      approve_token: z
        .string()
        .optional()
        .describe(
          'Token that may do what the `invoke` token may, and answer tool approvals; `GATEWAY_APPROVE_TOKEN` has precedence. Without one only the connection that started a run answers for it',
        ),
      reload_token: z
        .string()
        .optional()
        .describe('Token that may call `POST /reload` and nothing else; `GATEWAY_RELOAD_TOKEN` has precedence'),
    })
    .prefault({})
    .describe('Tokens in addition to the two that the gateway generates'),
  agents_dir: z
    .string()
    .min(1)
    .default('agents')
    .describe('Folder with a folder for each agent: `agent.yaml` and `soul.md`'),
  managed_dir: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of agents that a controller writes; they are read-only over HTTP'),
  providers: z.record(DefinitionName, ProviderConfig).default({}).describe('Name -> where its models are'),
  mcp_servers: z
    .record(DefinitionName, ToolServerEntry)
    .default({})
    .describe('Name -> a process (`command`), an address (`url`) or a container (`image`)'),
  tool_policy: ToolPolicyConfig.prefault({}).describe(
    'Which tool calls are allowed; applies in addition to the lists of agents',
  ),
  tool_pinning: z
    .enum(['off', 'warn', 'enforce'])
    .default('off')
    .describe("What happens when a server's tools are not those of its `tools_hash`"),
  limits: Limits.prefault({}).describe('Limits of agent runs'),
  security: z
    .strictObject({
      compute_timeout_ms: z
        .int()
        .min(50)
        .max(60_000)
        .default(1000)
        .describe('How long one check of an answer or one match of a pattern may take, where it is not small'),
    })
    .prefault({})
    .describe('Bounds of what others make the gateway compute'),
  runtime: Runtime.prefault({}).describe('Where agents run'),
  observability: z
    .strictObject({ otel: Otel.prefault({}).describe('Traces with OpenTelemetry') })
    .prefault({})
    .describe('Telemetry in addition to logs and metrics'),
});
export type GatewayConfig = z.infer<typeof GatewayConfig>;
