import type { CustomObject } from '../objects/custom-object.ts';
import { selectorOf } from '../objects/child-object.ts';
import { RUNNER_PORT } from '../plan/placement.ts';
import type { WorkloadSettings } from './settings.ts';

/** Only the gateway may enter. The runner needs no way out; a tool server in the pod is there to reach something. */
export function networkPolicySpec(
  owner: CustomObject,
  hasToolServers: boolean,
  { gatewayNamespace, gatewayLabels }: Pick<WorkloadSettings, 'gatewayNamespace' | 'gatewayLabels'>,
): Record<string, unknown> {
  const gateway = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': gatewayNamespace } },
    podSelector: { matchLabels: { ...gatewayLabels } },
  };
  return {
    podSelector: { matchLabels: selectorOf(owner) },
    policyTypes: hasToolServers ? ['Ingress'] : ['Ingress', 'Egress'],
    ingress: [{ from: [gateway], ports: [{ port: RUNNER_PORT, protocol: 'TCP' }] }],
  };
}
