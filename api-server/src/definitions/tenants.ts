import { limitedNamespace, mayCall, type Standing, type Tenancy, UNRESTRICTED } from '@signalbox/crds';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';

/** What running pipelines may do by their namespaces, from the definitions of the moment. */
export interface Tenants {
  /** Private addresses that requests of this pipeline may reach; null for those of `security.egress_allow`. */
  egressAllowOf(pipeline: string): readonly string[] | null;
  /** Empty where it is not known or nobody shares this service. */
  namespaceOf(pipeline: string): string;
  mayCall(caller: string, called: LoadedPipeline): boolean;
  /** Names of the pipelines of each listed namespace that has some. */
  pipelinesByNamespace(): Map<string, string[]>;
}

export function createTenants({ namespaces }: Tenancy, definitions: () => Snapshot): Tenants {
  const isUsed = Object.keys(namespaces).length > 0;
  /** A run may outlive its definition. Nobody knows then whose it is, so it keeps nothing that a tenant could lack. */
  const orphan: Standing = isUsed ? { namespace: '', admitted: false, tenant: { egress_allow: [] } } : UNRESTRICTED;
  const standingNamed = (name: string) => definitions().byName.get(name)?.standing ?? orphan;
  return {
    egressAllowOf: (pipeline) => standingNamed(pipeline).tenant?.egress_allow ?? null,
    namespaceOf: (pipeline) => standingNamed(pipeline).namespace ?? '',
    mayCall: (caller, called) => mayCall(standingNamed(caller), called.standing),
    pipelinesByNamespace: () => {
      const found = new Map<string, string[]>();
      for (const { name, standing } of definitions().pipelines) {
        const namespace = limitedNamespace(standing);
        if (namespace !== null) found.set(namespace, [...(found.get(namespace) ?? []), name]);
      }
      return found;
    },
  };
}
