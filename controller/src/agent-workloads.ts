import type { ManagerOptions } from './cli.ts';
import { readImageServers } from './config/image-servers.ts';
import type { Metrics } from './observability/metrics.ts';
import { createAskReplicas } from './observe/ask-replicas.ts';
import type { RoleDeps } from './sync.ts';
import { readRunnerKey } from './workloads/runner-keys.ts';
import { createWorkloads, type Workloads } from './workloads/workloads.ts';

/** The pods of agents, set up from the manager's options. Throws where a configuration file cannot be read. */
export function createAgentWorkloads(
  { runner, namespaces, serviceConfigs, gatewayUrl, invokeTokenFile, caFile }: ManagerOptions,
  { log, cluster, metrics, changed }: RoleDeps & { metrics: Metrics; changed(): void },
): Workloads {
  const askReplicas = createAskReplicas(caFile);
  const source = { path: '/runner-key' as const, tokenFile: invokeTokenFile, read: readRunnerKey };
  return createWorkloads({
    cluster,
    settings: runner && {
      ...runner,
      gatewayNamespace: runner.gatewayNamespace ?? cluster.namespace,
      imageServers: readImageServers(serviceConfigs),
    },
    namespaces,
    askKeys: gatewayUrl === null ? null : () => askReplicas({ ...source, url: gatewayUrl }),
    changed,
    log,
    metrics,
    now: () => performance.now(),
    random: Math.random,
  });
}
