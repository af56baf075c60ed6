import type { CustomObject } from '../objects/custom-object.ts';
import { selectorOf } from '../objects/child-object.ts';
import { RUNNER_PORT } from '../plan/placement.ts';
import type { NamedServer, WorkloadSettings } from './settings.ts';

/** Clusters differ in where their DNS is: a pod, the node or an address of the cloud. */
const DNS = {
  ports: [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ],
};

/** Only the gateway may enter. The runner needs no way out; a tool server may go where the operator lets it, or everywhere. */
export function networkPolicySpec(
  owner: CustomObject,
  servers: readonly NamedServer[],
  { gatewayNamespace, gatewayLabels }: Pick<WorkloadSettings, 'gatewayNamespace' | 'gatewayLabels'>,
): Record<string, unknown> {
  const gateway = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': gatewayNamespace } },
    podSelector: { matchLabels: { ...gatewayLabels } },
  };
  // A policy is for the whole pod: one server that may go everywhere opens it.
  const isOpen = servers.some(({ server }) => server.egress === undefined);
  const egress = servers.flatMap(({ server }) => server.egress ?? []);
  return {
    podSelector: { matchLabels: selectorOf(owner) },
    policyTypes: isOpen ? ['Ingress'] : ['Ingress', 'Egress'],
    ingress: [{ from: [gateway], ports: [{ port: RUNNER_PORT, protocol: 'TCP' }] }],
    ...(!isOpen && egress.length > 0 && { egress: [DNS, ...egress] }),
  };
}
