import { serverOf } from '@signalbox/crds';
import type { ImageServers } from '../config/image-servers.ts';
import { agentDeployment } from './deployment.ts';
import { childOf, type KubeObject, selectorOf } from '../objects/child-object.ts';
import { networkPolicySpec } from './network-policy.ts';
import { childName, type PodAgent, RUNNER_PORT } from '../plan/placement.ts';
import type { NamedServer, WorkloadSettings } from './settings.ts';

export type Rendered = { ok: true; objects: KubeObject[] } | { ok: false; reason: 'PortConflict'; message: string };

/** The objects of an agent, in the order in which they are applied: the NetworkPolicy comes before the pods. Pure. */
export function renderAgent(agent: PodAgent, settings: WorkloadSettings, publicKeys: readonly string[]): Rendered {
  const servers = serversOf(agent, settings.imageServers);
  const conflict = portConflict(servers);
  if (conflict !== null) return { ok: false, reason: 'PortConflict', message: conflict };
  const { owner } = agent;
  const child = (kind: KubeObject['kind'], spec: Record<string, unknown>) =>
    childOf(owner, kind, childName(owner), spec);
  return {
    ok: true,
    objects: [
      child('NetworkPolicy', networkPolicySpec(owner, servers, settings)),
      child('Service', {
        clusterIP: 'None',
        selector: selectorOf(owner),
        ports: [{ name: 'rpc', port: RUNNER_PORT, targetPort: 'rpc', protocol: 'TCP' }],
      }),
      child('Deployment', agentDeployment({ agent, servers, settings, publicKeys })),
    ],
  };
}

function serversOf({ config }: PodAgent, imageServers: ImageServers): NamedServer[] {
  const names = [...new Set(config.tools.map(serverOf))].toSorted();
  return names.flatMap((name) => {
    const server = imageServers.get(name);
    return server ? [{ name, server }] : [];
  });
}

/** The containers of a pod share one set of ports. */
function portConflict(servers: readonly NamedServer[]): string | null {
  const taken = new Map<number, string>([[RUNNER_PORT, 'the runner']]);
  for (const { name, server } of servers) {
    const other = taken.get(server.port);
    if (other !== undefined)
      return `port ${server.port} is used by ${other} and by the tool server "${name}"; give one of them another port`;
    taken.set(server.port, `the tool server "${name}"`);
  }
  return null;
}
