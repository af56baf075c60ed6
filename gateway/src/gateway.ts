import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_FRAME_BYTES } from '@signalbox/crds';
import type { AgentRecord } from './agents/agent-record.ts';
import { knownNames } from './agents/known-names.ts';
import { readManagedAgents } from './agents/managed.ts';
import { AgentRegistry } from './agents/registry.ts';
import { keylessModels, validateAgent } from './agents/validate.ts';
import type { GatewayConfig } from './config/schema.ts';
import { healthOf } from './health.ts';
import { createApp } from './http/app.ts';
import { agentRoutes } from './http/routes/agents.ts';
import { serviceRoutes } from './http/routes/service.ts';
import { toolRoutes } from './http/routes/tools.ts';
import { createAuthenticate } from './identity/authenticate.ts';
import type { Tokens } from './identity/device-auth.ts';
import type { SigningKey } from './identity/signing-key.ts';
import { generate, type GenerateDeps } from './models/generate.ts';
import { createModels } from './models/models.ts';
import { providerEntries } from './models/provider-entries.ts';
import { createConceal } from './observability/conceal.ts';
import type { Log } from './observability/log.ts';
import { Metrics } from './observability/metrics.ts';
import { composePods } from './pods/compose-pods.ts';
import { imageServersFrom } from './pods/image-servers.ts';
import { compilePolicy } from './policy/policy.ts';
import { createMethods } from './rpc/methods.ts';
import { RpcServer } from './rpc/rpc-server.ts';
import { runAgent, type RunAgentDeps } from './runs/run-agent.ts';
import { discoveredTools } from './runs/tool-offer.ts';
import { RunService } from './runs/run-service.ts';
import { composeTools } from './tools/compose-tools.ts';
import { tracedCall, tracedGenerate } from './runs/traced.ts';

export interface GatewayOptions {
  config: GatewayConfig;
  tokens: Tokens;
  /** Null where no agent has a pod of its own. */
  signingKey: SigningKey | null;
  version: string;
  log: Log;
  /** What tool servers may see of the environment. */
  baseEnvironment: Record<string, string>;
}

/** A gateway that accepts requests. */
export interface RunningGateway {
  url: string;
  reload: () => void;
  /** Takes nothing new, lets runs end, then ends every tool server and connection. */
  close: () => Promise<void>;
}

export type StartResult = { ok: true; gateway: RunningGateway } | { ok: false; message: string };

/** Puts the service together and starts it; the only place that knows every part. */
export async function startGateway({
  config,
  tokens,
  signingKey,
  version,
  log,
  baseEnvironment,
}: GatewayOptions): Promise<StartResult> {
  const policy = compilePolicy(config.tool_policy);
  if (!policy.ok) return { ok: false, message: policy.message };
  const opened = openDirectory(config.agents_dir);
  if (!opened.ok) return { ok: false, message: `agents_dir: ${opened.message}` };
  const models = createModels(providerEntries(config.providers));
  const onBug = (error: unknown) => log.error({ err: error }, 'unexpected error');

  const { servers, stop: stopTools } = composeTools({
    config,
    environment: baseEnvironment,
    log,
    onChangedTools: (server) => metrics.toolsChanged(server),
  });
  const known = knownNames(config, models);
  const registry = new AgentRegistry({ agentsDir: config.agents_dir, managedDir: config.managed_dir, known });
  const reload = () => {
    const report = registry.load();
    pods?.retain(report.agents.filter((agent) => podsOf(agent) !== null));
    for (const { agent, field, message, severity } of report.errors)
      log.warn({ agent, field, problem: message }, severity === 'error' ? 'agent not loaded' : 'agent warning');
    const errors = report.errors.filter(({ severity }) => severity === 'error').length;
    log.info({ agents: report.agents.length, errors, warnings: report.errors.length - errors }, 'agents loaded');
    return report;
  };
  const modelDeps: GenerateDeps = {
    route: models.route,
    open: models.open,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    random: Math.random,
    conceal: createConceal(
      Object.values(config.providers).flatMap(({ api_key, headers }) => [api_key, ...Object.values(headers)]),
    ),
    requestTimeoutMs: config.limits.request_timeout_seconds * 1000,
    onRequest: ({ reply, ...request }) =>
      // Counting can wait until the answer is on its way.
      void setImmediate(() => metrics.llmRequest({ ...request, usage: reply?.usage ?? null })),
  };
  const tracing = await openTracing(config, version, log);
  const asked: RunAgentDeps['generate'] = (request, options) => generate(request, options, modelDeps);
  const ask = tracing ? tracedGenerate(asked) : asked;
  const door = {
    decide: policy.decide,
    call: tracedCall(servers.call.bind(servers)),
    onCall: (call: Parameters<Metrics['toolCall']>[0]) => metrics.toolCall(call),
    toolTimeoutMs: config.limits.tool_timeout_seconds * 1000,
    resultMaxChars: config.limits.tool_result_max_chars,
  };
  const { maxIterations, ...runLimits } = limitsOf(config);
  const pods = signingKey
    ? composePods({
        config,
        signingKey,
        tools: () => servers.tools(),
        agent: (name) => registry.get(name),
        generate: ask,
        door,
        log,
        onBug,
      })
    : null;
  const podsOf = ({ config: agent, managedBy }: AgentRecord) =>
    known.modeOf(agent, managedBy !== null) === 'kubernetes' ? pods : null;
  const runs = new RunService({
    agent: (name) => registry.get(name),
    modelProblem: known.modelProblem,
    tools: () => servers.tools(),
    whenRunning: (names, ms, signal) => servers.whenRunning(names, ms, signal),
    whenReady: (agent, signal) => podsOf(agent)?.whenReady(agent, signal) ?? null,
    perform: (job, run) =>
      podsOf(job.agent)?.perform(job, run) ??
      runAgent(job, {
        generate: ask,
        maxIterations,
        door: { ...door, requestApproval: (request, signal) => run.requestApproval(request, signal) },
      }),
    limits: runLimits,
    keyedRunsOutliveWatchers: true,
    startSpan: tracing?.startSpan,
    newId: () => randomUUID(),
    now: Date.now,
    onFinished: ({ agent, status, seconds }) => {
      metrics.runFinished({ agent, status, seconds });
      log.debug({ agent, status, seconds }, 'run ended');
    },
    onBug,
  });
  const metrics = new Metrics({
    activeRuns: () => runs.active(),
    queuedRuns: () => runs.queued(),
    agents: () => registry.size(),
    connections: () => rpc.size(),
    servers: () => servers.views().filter(({ transport }) => transport !== 'image'),
    pods: () => pods?.connected() ?? [],
  });

  const authenticate = createAuthenticate(tokens);
  const onAuthFailure = (reason: string) => {
    metrics.authFailure(reason);
    log.info({ reason }, 'request refused');
  };
  const listAgents = () =>
    registry.list().map(({ name, config: agent, version: agentVersion }) => {
      const { model, description, tags } = agent;
      const warnings = keylessModels(agent, known).map(({ field, message }) => `${field}: ${message}`);
      return { name, model, description, tags, version: agentVersion, ...(warnings.length > 0 ? { warnings } : {}) };
    });
  const methods = createMethods({
    version,
    listAgents,
    submit: (params, watcher) => {
      const submitted = runs.submit(params, watcher);
      if (!submitted.ok) metrics.runRefused(submitted.type);
      return submitted;
    },
    find: (reference) => runs.find(reference),
    cancel: (run, message) => runs.cancel(run, message),
  });
  const rpc = new RpcServer({
    authenticate,
    allowedOrigins: config.server.allowed_origins,
    maxFrameBytes: MAX_FRAME_BYTES,
    call: methods,
    onGone: (watcher) => runs.unwatch(watcher),
    onAuthFailure,
    onBug,
  });
  const counts = () => ({
    version,
    agents: registry.size(),
    activeRuns: runs.active(),
    maxConcurrentRuns: config.limits.max_concurrent_runs,
  });
  const { tls } = config.server;
  const app = createApp({
    routes: [
      ...serviceRoutes({
        health: () => healthOf(counts(), servers.views()),
        metrics: async () => ({ text: await metrics.text(), contentType: metrics.contentType() }),
        providers: () => models.views,
        runnerKey: () => signingKey?.publicKey ?? null,
      }),
      ...agentRoutes({
        list: () => registry.list(),
        errors: () => registry.errors(),
        get: (name) => registry.get(name),
        create: (name, pair, overwrite) => registry.create(name, pair, overwrite),
        update: (name, change) => registry.update(name, change),
        remove: (name) => registry.remove(name),
        validate: (pair) => validateAgent({ ...pair, expectedName: null, managedBy: null }, known),
        reload,
        managed: () => readManagedAgents(config.managed_dir),
        toolsOf: ({ name, config: agent }) =>
          discoveredTools(agent, [...servers.tools(), ...(pods?.tools(name) ?? [])]),
      }),
      ...toolRoutes({
        servers: () => imageServersFrom(pods?.tools() ?? [], servers.views()),
        tools: () => [...servers.tools(), ...(pods?.tools() ?? [])],
        policy: { default: config.tool_policy.default, rules: policy.rules },
        decide: policy.decide,
      }),
    ],
    authenticate,
    metricsAuth: config.server.metrics_auth,
    version,
    tls: tls ? { cert: readFileSync(tls.cert), key: readFileSync(tls.key) } : null,
    onAuthFailure,
    onBug: (error, request) => log.error({ err: error, ...request }, 'unexpected error'),
  });

  reload();
  rpc.attach(app.server);
  try {
    await app.listen({ host: config.server.host, port: config.server.port });
  } catch (error) {
    return {
      ok: false,
      message: `server.host, server.port: ${error instanceof Error ? error.message : 'cannot listen'}`,
    };
  }
  // After the port: the MCP client is the largest thing this service loads, and no probe should wait for it.
  setImmediate(() => servers.start());
  return {
    ok: true,
    gateway: {
      url: urlOf(app.server.address() as AddressInfo, tls !== undefined),
      reload,
      close: async () => {
        await runs.drain(config.server.drain_seconds * 1000);
        pods?.close();
        await Promise.all([rpc.close(), stopTools()]);
        await app.close();
        await tracing?.close();
      },
    },
  };
}

function openDirectory(path: string): { ok: true } | { ok: false; message: string } {
  try {
    mkdirSync(path, { recursive: true });
    return { ok: true };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : 'cannot be made' };
  }
}

function limitsOf({ limits }: GatewayConfig) {
  const {
    max_concurrent_runs: maxConcurrentRuns,
    max_queued_runs: maxQueuedRuns,
    max_iterations: maxIterations,
  } = limits;
  return { maxConcurrentRuns, maxQueuedRuns, maxIterations };
}

/** Null where tracing is off: then nothing of it is loaded. */
async function openTracing({ observability: { otel } }: GatewayConfig, version: string, log: Log) {
  if (!otel.enabled) return null;
  const { startTracing } = await import('./observability/otel.ts');
  const { exporter, endpoint, service_name: serviceName } = otel;
  return startTracing({ exporter, endpoint, serviceName, version, log });
}

function urlOf({ address, family, port }: AddressInfo, secure: boolean): string {
  const host = family === 'IPv6' ? `[${address}]` : address;
  return `${secure ? 'https' : 'http'}://${host}:${port}`;
}
