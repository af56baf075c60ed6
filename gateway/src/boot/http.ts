import { readManagedAgents } from '../agents/managed.ts';
import { validateAgent } from '../agents/validate.ts';
import { createApp } from '../http/app.ts';
import { healthOf } from '../http/health.ts';
import { agentRoutes } from '../http/routes/agents.ts';
import { serviceRoutes } from '../http/routes/service.ts';
import { toolRoutes } from '../http/routes/tools.ts';
import { tlsOptions } from '../http/tls.ts';
import { imageServersFrom } from '../pods/image-servers.ts';
import { createDiscovery } from '../runs/discovered-tools.ts';
import type { Stages } from './stages.ts';

/** The REST routes, not listening yet. */
export function openHttp(options: Stages) {
  const { tls, metrics_auth: metricsAuth, pod_name: podName } = options.config.server;
  return createApp({
    ...options.access,
    routes: [serviceRoutesOf(options), agentRoutesOf(options), toolRoutesOf(options)],
    metricsAuth,
    podName,
    version: options.version,
    tls: tls ? tlsOptions(tls) : null,
  });
}

function serviceRoutesOf(stages: Stages) {
  const { config, version, signingKey, models, isolation, configWarnings, tools, agents, runs, metrics } = stages;
  const counts = () => ({
    version,
    agents: agents.registry.size(),
    activeRuns: runs.active(),
    waitingApprovals: runs.waitingApprovals(),
    maxConcurrentRuns: config.limits.max_concurrent_runs,
    warnings: [...isolation.warnings, ...configWarnings],
  });
  return serviceRoutes({
    health: () => healthOf(counts(), tools.servers.views()),
    metrics: async () => ({ text: await metrics.text(), contentType: metrics.contentType() }),
    providers: () => models.views,
    runnerKey: () => signingKey?.publicKey ?? null,
  });
}

function agentRoutesOf({ config, tools, agents, pods, reload, log }: Stages) {
  const { registry, known, judge, hasPod } = agents;
  const discover = createDiscovery();
  /** An agent of the operator may have taken its name from one of a tenant. */
  const changed = async <Result>(change: Promise<Result>): Promise<Result> => {
    const result = await change;
    pods?.retain(registry.list().filter(hasPod));
    return result;
  };
  return agentRoutes({
    list: () => registry.list(),
    errors: () => [...(pods?.warnings() ?? []), ...registry.errors()],
    get: (name) => registry.get(name),
    create: (name, pair, overwrite) => changed(registry.create(name, pair, overwrite)),
    update: (name, change) => changed(registry.update(name, change)),
    remove: (name) => changed(registry.remove(name)),
    validate: (pair) => validateAgent({ ...pair, expectedName: null, managedBy: null }, known, judge),
    reload,
    // Only the admin token may change agents.
    record: (change) => log.info({ ...change, token: 'admin' }, 'agent changed'),
    managed: () => readManagedAgents(config.managed_dir),
    toolsOf: (agent) => discover(agent.config, [...tools.servers.tools(), ...(pods?.tools(agent) ?? [])]),
  });
}

function toolRoutesOf({ config, tools: { servers }, pods, policy }: Stages) {
  return toolRoutes({
    servers: async () => imageServersFrom((await pods?.allTools()) ?? [], servers.views()),
    tools: async () => {
      const inPods = ((await pods?.allTools()) ?? []).map((tool) => ({ ...tool, disabled: false }));
      return [...servers.listedTools(), ...inPods];
    },
    policy: { default: config.tool_policy.default, rules: policy.rules },
    decide: policy.decide,
  });
}
