import { readFile } from 'node:fs/promises';
import { SyncedObject } from '@signalbox/crds';
import { z } from 'zod';

export interface GatewayRestOptions {
  /** Null where `executors.gateway.rest_url` is not set. */
  restUrl: string | null;
  /** The invoke token. */
  token: string;
  /** Absolute path of a CA file. */
  ca: string | null;
  /** How long an answer is waited for (3,000 ms). */
  timeoutMs?: number;
}

const TIMEOUT_MS = 3_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Entries of one list. How many there are is looked at before any of them is. */
const MAX_ENTRIES = 10_000;
const text = z.string().nullable();
const Servers = z.object({
  servers: z
    .array(
      z.object({
        name: z.string(),
        transport: z.string(),
        state: z.string(),
        tool_count: z.number(),
        restart_count: z.number(),
        started_at: text,
        last_error: text,
      }),
    )
    .max(MAX_ENTRIES),
});
const Tools = z.object({
  tools: z
    .array(
      z.object({
        server: z.string(),
        name: z.string(),
        description: z.string(),
        input_schema: z.looseObject({}),
      }),
    )
    .max(MAX_ENTRIES),
});
const Policy = z.object({
  default: z.string(),
  rules: z
    .array(z.object({ action: z.string(), server: text, tool: text, agent: text, input_regex: text, reason: text }))
    .max(MAX_ENTRIES),
});

const AgentTexts = z.object({ version: z.string(), agent_yaml: z.string(), soul_md: z.string() });
const Managed = z.object({ objects: z.array(SyncedObject).max(MAX_ENTRIES).nullable() });

/** Why the gateway could not be asked. */
type NotAsked = { kind: 'not_configured' } | { kind: 'unreachable'; message: string };
export type ListedObjects = { kind: 'found'; objects: SyncedObject[] | null } | NotAsked;
export type ListedTools =
  | ({ kind: 'found'; policy: z.infer<typeof Policy> } & z.infer<typeof Servers> & z.infer<typeof Tools>)
  | NotAsked;

/** Asks the gateway for its tool servers, tools and policy (Gateway 4); waits three seconds at most. */
export const gatewayTools = (options: GatewayRestOptions | null) => (): Promise<ListedTools> =>
  askGateway(options, async (ask) => {
    const [{ servers }, { tools }, policy] = await Promise.all([
      ask('/mcp/servers', Servers),
      ask('/mcp/tools', Tools),
      ask('/tool-policy', Policy),
    ]);
    return { kind: 'found', servers, tools, policy };
  });

/** Asks the gateway for the state of the objects that its agents come from; null where no controller manages any. */
export const gatewayObjects = (options: GatewayRestOptions | null) => (): Promise<ListedObjects> =>
  askGateway(options, async (ask) => ({ kind: 'found', ...(await ask('/managed-agents', Managed)) }));

export type FoundAgent =
  | { kind: 'found'; version: string; agentYaml: string; soulMd: string }
  | { kind: 'unknown' }
  | NotAsked;

/** Asks the gateway for the two texts of an agent as it is now, and for its version (Gateway 4). */
export const gatewayAgent =
  (options: GatewayRestOptions | null) =>
  (name: string): Promise<FoundAgent> =>
    askGateway(options, async (ask): Promise<FoundAgent> => {
      try {
        const found = await ask(`/agents/${encodeURIComponent(name)}`, AgentTexts);
        return { kind: 'found', version: found.version, agentYaml: found.agent_yaml, soulMd: found.soul_md };
      } catch (error) {
        if (error instanceof Refused && error.status === 404) return { kind: 'unknown' };
        throw error;
      }
    });

type Ask = <S extends z.ZodType>(path: string, schema: S) => Promise<z.output<S>>;

async function askGateway<Found>(
  options: GatewayRestOptions | null,
  question: (ask: Ask) => Promise<Found>,
): Promise<Found | NotAsked> {
  if (!options?.restUrl) return { kind: 'not_configured' };
  const ask = await client(options.restUrl, options);
  try {
    return await question(ask);
  } catch (error) {
    return { kind: 'unreachable', message: explain(error) };
  } finally {
    await ask.close();
  }
}

/** The library is loaded with the first question: most services start without ever needing it. */
async function client(base: string, { token, ca, timeoutMs = TIMEOUT_MS }: GatewayRestOptions) {
  const { Agent, request } = await import('undici');
  const agent = new Agent({ connect: { timeout: timeoutMs, ...(ca ? { ca: await readFile(ca, 'utf8') } : {}) } });
  const signal = AbortSignal.timeout(timeoutMs);
  const ask: Ask = async (path, schema) => {
    const url = `${base.replace(/\/$/, '')}${path}`;
    const headers = { authorization: `Bearer ${token}` };
    const { statusCode, body } = await request(url, { dispatcher: agent, headers, signal });
    const answer = await readBounded(body);
    if (statusCode !== 200) throw new Refused(statusCode);
    return schema.parse(JSON.parse(answer));
  };
  return Object.assign(ask, { close: () => agent.destroy() });
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`it answered ${status}`);
    this.status = status;
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('its answer is larger than 4 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** For people; an address or a token never is part of it. */
function explain(error: unknown): string {
  if (error instanceof Refused && error.status === 401) return 'It does not know the token of executors.gateway.token.';
  if (error instanceof Refused) return `It answered with status ${error.status}.`;
  if (error instanceof z.ZodError || error instanceof SyntaxError)
    return 'It answered with something that is not its REST interface.';
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return 'It gave no answer within 3 seconds.';
  if (code === 'ECONNREFUSED') return 'Nothing listens at executors.gateway.rest_url.';
  return `It cannot be reached: ${code ?? message ?? 'unknown error'}.`;
}
