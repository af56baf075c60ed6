import { ImageServer, plainIssues } from '@signalbox/crds';
import { z } from 'zod';

export const Seconds = z.number().positive().max(86_400);
const Timeouts = {
  timeout_seconds: Seconds.optional().describe(
    'How long an answer of its tools may take, in place of `limits.tool_timeout_seconds`; each progress notification starts it again',
  ),
  max_timeout_seconds: Seconds.optional().describe(
    'How long a call may take in spite of progress; without it 600, or `timeout_seconds` where that is more',
  ),
};
/** As `GET /mcp/servers` shows it; earlier versions showed the first 12 digits. */
const ToolsHash = z
  .string()
  .regex(/^(?:[0-9a-f]{64}|[0-9a-f]{12})$/, 'must be 64 hexadecimal digits, as GET /mcp/servers shows them')
  .optional()
  .describe('Hash of the tools that are expected, see `tool_pinning`');

const StdioServer = z.strictObject({
  command: z.string().min(1).describe('Program to start; with an image a list, in place of its entry point'),
  args: z
    .array(z.string())
    .default([])
    .describe('Its arguments; every user of the machine can read them, so put secrets into `env`'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Its environment, in addition to PATH, HOME and a few others; in namespaces HOME and TMPDIR are folders that it shares with no other server',
    ),
  cwd: z.string().optional().describe('Its working directory'),
  memory_limit_mib: z
    .int()
    .min(16)
    .max(1_048_576)
    .default(512)
    .describe(
      'Resident memory of the server and all it starts; beyond it, or with more than 1,000 processes, the server is restarted',
    ),
  user: z
    .union([z.string().min(1), z.int().min(0)])
    .optional()
    .describe('User of the machine to start it as, by name or id; the gateway must run as root for this'),
  isolation: z
    .enum(['auto', 'require', 'off'])
    .default('auto')
    .describe(
      'Without `user`: `auto` starts it in namespaces of its own where the machine allows that and warns where not, `require` ends the start of the gateway where not, `off` does neither',
    ),
  host_processes: z
    .boolean()
    .default(false)
    .describe(
      "Whether it sees the machine's processes in spite of its namespaces; it can then end those of the gateway's user",
    ),
  ...Timeouts,
  tools_hash: ToolsHash,
});
const ClientCredentials = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/ })
    .describe('Address of the authorization server; no other one is shown the credentials'),
  client_id: z.string().min(1).describe('Name of this client there'),
  client_secret: z.string().min(1).describe('Its secret; write `${NAME}` to take it from the environment'),
  scope: z.string().min(1).optional().describe('Scopes to ask for where the server names none, separated by spaces'),
});
const HttpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe('Address that speaks streamable HTTP'),
  headers: z.record(z.string(), z.string()).default({}).describe('Headers of every request'),
  ca: z
    .string()
    .min(1)
    .optional()
    .describe('File of a certificate authority (PEM) that signed its certificate, in addition to the well-known ones'),
  oauth: ClientCredentials.optional().describe(
    'Client credentials, with which a token is got where the server asks for one; in place of a header `authorization`',
  ),
  ...Timeouts,
  tools_hash: ToolsHash,
});
const PodServer = ImageServer.extend({ ...Timeouts, tools_hash: ToolsHash });
export type StdioServer = z.infer<typeof StdioServer>;
export type HttpServer = z.infer<typeof HttpServer>;
export type PodServer = z.infer<typeof PodServer>;
export type ToolServerConfig = StdioServer | HttpServer | PodServer;

/** Whether the gateway starts it; an image may name a `command` too. */
export const isStdio = (entry: ToolServerConfig): entry is StdioServer => !('image' in entry) && 'command' in entry;

/** The shapes of an entry of `mcp_servers`, for the reference. */
export const TOOL_SERVER_SHAPES = [StdioServer, HttpServer, PodServer] as const;

/** Picks the shape by its distinguishing key first, so that an error names the key and not "invalid union". */
export const ToolServerEntry = z.unknown().transform((value, context): ToolServerConfig => {
  const has = (key: string) => typeof value === 'object' && value !== null && key in value;
  const schema = has('image') ? PodServer : has('command') ? StdioServer : has('url') ? HttpServer : null;
  if (schema === null) {
    context.addIssue({ code: 'custom', message: 'needs one of command, url or image' });
    return z.NEVER;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, msg } of plainIssues(parsed.error.issues, schema))
    context.addIssue({ code: 'custom', path, message: msg });
  return z.NEVER;
});
