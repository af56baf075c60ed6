import type { AddressInfo } from 'node:net';
import { createCompute } from '@signalbox/crds/process/compute';
import type { AgentRecord } from '../agents/agent-record.ts';
import type { GatewayConfig } from '../config/schema.ts';
import { renewTls, watchTls } from '../http/tls.ts';
import { createAuthenticate } from '../identity/authenticate.ts';
import { Metrics } from '../observability/metrics.ts';
import { createRefusalLog } from '../observability/refusal-log.ts';
import { compilePolicy } from '../policy/policy.ts';
import { openAgents, reloadAgents } from './agents.ts';
import { openHttp } from './http.ts';
import { openIsolation } from './isolation.ts';
import { lintConfig } from './lint-config.ts';
import { openModels } from './models.ts';
import { openPods } from './pods.ts';
import { openRpc } from './rpc.ts';
import { openDoor, openRuns } from './runs.ts';
import { openTools } from './tools.ts';
import { openTracing } from './tracing.ts';
import type { GatewayOptions } from './stages.ts';

/** A gateway that accepts requests. */
export interface RunningGateway {
  url: string;
  reload: () => Promise<unknown>;
  close: () => Promise<void>;
}

export type StartResult = { ok: true; gateway: RunningGateway } | { ok: false; message: string };

/** Starts the service: each stage takes what earlier stages made. */
export async function startGateway(options: GatewayOptions): Promise<StartResult> {
  const { config, tokens, signingKey, log } = options;
  const compute = createCompute({ timeoutMs: config.security.compute_timeout_ms });
  const policy = compilePolicy(config.tool_policy, compute.matches);
  if (!policy.ok) return policy;

  const metrics = new Metrics();
  const logRefusal = createRefusalLog(log);
  const access = {
    authenticate: createAuthenticate(tokens),
    onAuthFailure: (reason: string, about: object) => {
      metrics.authFailure(reason);
      logRefusal({ reason, ...about });
    },
    onBug: (error: unknown, about?: unknown) => log.error({ err: error, about }, 'unexpected error'),
  };
  const base = { ...options, compute, metrics, policy, access };
  const models = openModels(base);
  const agents = openAgents({ config, models, compute });
  if (!agents.ok) return agents;
  const tracing = await openTracing(base);
  const isolation = await openIsolation(base);
  if (!isolation.ok) return isolation;
  const tools = openTools({ ...base, isolation });
  const configWarnings = lintConfig(config, policy.rules);
  for (const warning of configWarnings) log.warn({ warning }, 'configuration');
  const stages = {
    ...base,
    configWarnings,
    models,
    agents,
    tracing,
    isolation,
    tools,
    door: openDoor({ ...base, tools }),
  };
  const pods = signingKey && openPods({ ...stages, signingKey });
  const runs = openRuns({ ...stages, pods });
  const reload = () => reloadAgents({ agents, pods, log });
  const rpc = openRpc({ ...stages, pods, runs });
  const app = openHttp({ ...stages, pods, runs, reload });
  metrics.readFrom({
    activeRuns: () => runs.active(),
    queuedRuns: () => runs.queued(),
    waitingApprovals: () => runs.waitingApprovals(),
    agents: () => agents.registry.list().map(({ name }) => name),
    namespaceOf: (name) => namespaceOf(agents.registry.get(name)),
    runsByAgent: () => runs.byAgent(),
    connections: () => rpc.size(),
    servers: () => tools.servers.views().filter(({ transport }) => transport !== 'image'),
    pods: () => pods?.connected() ?? [],
  });

  const { tls } = config.server;
  const renew = () => {
    if (tls === undefined) return;
    try {
      renewTls(app.server, tls);
      log.info({ cert: tls.cert }, 'certificate read again');
    } catch (error) {
      log.warn({ cert: tls.cert, err: error }, 'certificate cannot be used; the one from before stays');
    }
  };

  await reload();
  rpc.attach(app.server);
  const listening = await listen(app, config);
  if (!listening.ok) return listening;
  const unwatch = tls === undefined ? null : watchTls(tls, renew);
  // After the port: the MCP client is the largest module of the service, and probes should not wait for it.
  setImmediate(() => tools.servers.start());

  /** Takes no new runs, lets the others end, then ends connections, tool servers and the port. */
  const close = async () => {
    unwatch?.();
    await runs.drain(config.server.drain_seconds * 1000);
    pods?.close();
    await Promise.all([rpc.close(), tools.stop()]);
    await app.close();
    await compute.close();
    await tracing?.close();
  };
  const again = () => {
    renew();
    return reload();
  };
  return { ok: true, gateway: { url: listening.url, reload: again, close } };
}

/** Of an agent that is removed nobody knows whose it was. */
const namespaceOf = (agent: AgentRecord | undefined): string | null =>
  agent ? (agent.managedBy?.namespace ?? null) : '';

async function listen(
  app: ReturnType<typeof openHttp>,
  { server: { host, port, tls } }: GatewayConfig,
): Promise<{ ok: true; url: string } | { ok: false; message: string }> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'cannot listen';
    return { ok: false, message: `server.host, server.port: ${reason}` };
  }
  const bound = app.server.address() as AddressInfo;
  const address = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return { ok: true, url: `${tls ? 'https' : 'http'}://${address}:${bound.port}` };
}
