import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnswerCheck, type OpenApiDocument } from '../../../e2e/support/openapi.ts';
import { baseEnvironment } from '../config/base-environment.ts';
import { parseConfig } from '../config/load.ts';
import { startGateway } from '../boot/start-gateway.ts';
import type { SigningKey } from '../identity/signing-key.ts';
import type { Log } from '../observability/log.ts';
import { RpcClient } from './rpc-client.ts';
import { until } from './until.ts';

export const ADMIN_TOKEN = 'test-admin-token-000';
export const INVOKE_TOKEN = 'test-invoke-token-00';
export const APPROVE_TOKEN = 'test-approve-token-0';
export const RELOAD_TOKEN = 'test-reload-token-00';

interface TestGatewayOptions {
  /** agent.yaml without `name`, and the soul, by agent name. */
  agents?: Record<string, { config?: Record<string, unknown>; soul?: string }>;
  config?: Record<string, unknown>;
  signingKey?: SigningKey | null;
  /** Without an approve token a run's own connection answers its approvals. */
  tokens?: { approve: string | null };
}

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A gateway in this process on a free port, with its own directory. `close` ends and deletes everything. */
export async function startTestGateway({
  agents = {},
  config = {},
  signingKey = null,
  tokens,
}: TestGatewayOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  for (const [name, agent] of Object.entries(agents)) {
    mkdirSync(join(directory, 'agents', name), { recursive: true });
    writeFileSync(
      join(directory, 'agents', name, 'agent.yaml'),
      JSON.stringify({ name, model: 'demo/scripted', ...agent.config }),
    );
    writeFileSync(join(directory, 'agents', name, 'soul.md'), agent.soul ?? 'You answer.');
  }
  const text = JSON.stringify({
    providers: { demo: { type: 'demo', default: true } },
    ...config,
    server: { port: 0, drain_seconds: 1, ...(config['server'] as object | undefined) },
  });
  const loaded = parseConfig(text, directory, {});
  if (!loaded.ok) throw new Error(loaded.message);
  const errors: unknown[] = [];
  const warnings: unknown[] = [];
  const records: Record<string, unknown>[] = [];
  const started = await startGateway({
    config: loaded.config,
    tokens: {
      admin: ADMIN_TOKEN,
      invoke: INVOKE_TOKEN,
      approve: null,
      reload: RELOAD_TOKEN,
      from: 'environment',
      ...tokens,
    },
    signingKey,
    version: '0.0.0-test',
    log: {
      ...silent,
      info: (fields, msg) => records.push({ ...fields, msg }),
      warn: (fields, msg) => warnings.push({ ...fields, msg }),
      error: (fields) => errors.push(fields),
    },
    baseEnvironment: baseEnvironment({ ...process.env, HOME: directory }),
    configPath: null,
    environmentShown: null,
  });
  if (!started.ok) throw new Error(started.message);
  const { gateway } = started;
  await toolServersRun(gateway.url, config['mcp_servers'] ?? {});
  const clients: RpcClient[] = [];
  let check: Promise<ReturnType<typeof createAnswerCheck>> | undefined;
  const answerCheck = () => (check ??= openAnswerCheck(gateway.url));
  return {
    url: gateway.url,
    directory,
    /** What the service logged as its own bugs. */
    errors,
    /** What it puts on record. */
    records,
    /** What it wants its operator to look at. */
    warnings,
    reload: gateway.reload,
    rpc: async (token = INVOKE_TOKEN) => {
      const client = await RpcClient.connect(gateway.url, { authorization: `Bearer ${token}` });
      clients.push(client);
      return client;
    },
    /** Rejects where an answer is not one that the document declares. */
    http: async (method: string, path: string, options: { token?: string | null; body?: unknown } = {}) => {
      const token = options.token === undefined ? ADMIN_TOKEN : options.token;
      const response = await fetch(gateway.url + path, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(options.body === undefined
          ? {}
          : { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
      });
      const text = await response.text();
      const body: ReturnType<typeof JSON.parse> = text.startsWith('{') ? JSON.parse(text) : text;
      const { status } = response;
      const problem = body === text ? null : (await answerCheck())({ method, path, status, body });
      if (problem !== null) throw new Error(`the answer is not the declared one: ${problem}`);
      return { status, body };
    },
    close: async () => {
      for (const client of clients) client.close();
      await gateway.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The gateway's document decides which JSON it may answer. */
async function openAnswerCheck(url: string) {
  const answer = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${INVOKE_TOKEN}` } });
  return createAnswerCheck((await answer.json()) as OpenApiDocument);
}

/** Runs wait ten seconds for their tool servers, and a slow machine needs longer to start one. */
async function toolServersRun(url: string, configured: object): Promise<void> {
  const real = new Set(
    Object.entries(configured).flatMap(([name, server]) => (server.command === process.execPath ? [name] : [])),
  );
  if (real.size === 0) return;
  await until(async () => {
    const answer = await fetch(`${url}/mcp/servers`, { headers: { authorization: `Bearer ${INVOKE_TOKEN}` } });
    const { servers } = (await answer.json()) as { servers: { name: string; running: boolean }[] };
    return servers.every(({ name, running }) => running || !real.has(name));
  });
}

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;
