import {
  limitedNamespace,
  mayCall,
  receiversOf,
  type Standing,
  type Tenancy,
  type Tenant,
  UNRESTRICTED,
} from '@signalbox/crds';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';

/** Who wrote what a run does. */
export interface Author {
  pipeline: string;
  /** The namespace that is stored with the run, null where it counts towards none; undefined for that of the pipeline now. */
  namespace: string | null | undefined;
}

/** What runs may do by the namespace they began in, whatever their pipeline's name means meanwhile. */
export interface Tenants {
  /** Private addresses that requests of a run may reach; null for those of `security.egress_allow`. */
  egressAllowOf(author: Author): readonly string[] | null;
  /** Rooms and addresses that messages of a run may name; null for any. */
  receiversOf(author: Author): readonly string[] | null;
  /** Empty where it is not known or nobody shares this service. */
  namespaceOf(pipeline: string): string;
  mayCall(caller: Author, called: LoadedPipeline): boolean;
  /** What steps of its runs may have stored in a day; null where nobody shares this service, or it may do everything. */
  dailyBytesOf(namespace: string): number | null;
  /** Names of the pipelines of each listed namespace that has some. */
  pipelinesByNamespace(): Map<string, string[]>;
}

const NOTHING: Tenant = { egress_allow: [], receivers: [] };
const DAILY_BYTES = 2 ** 30;

export function createTenants({ open, namespaces }: Tenancy, definitions: () => Snapshot): Tenants {
  const isUsed = Object.keys(namespaces).length > 0;
  /** A run may outlive its definition. Nobody knows then whose it is, so it keeps nothing that a tenant could lack. */
  const orphan: Standing = isUsed ? { namespace: '', admitted: false, tenant: NOTHING } : UNRESTRICTED;
  const standingNamed = (name: string) => definitions().byName.get(name)?.standing ?? orphan;
  const standingOfRun = ({ pipeline, namespace }: Author): Standing => {
    const named = standingNamed(pipeline);
    if (namespace === undefined) return named;
    // Another namespace that takes the name of a pipeline that is gone gives its runs nothing, and gets nothing from them.
    if (namespace === null) return limitedNamespace(named) === null ? named : orphan;
    const unlisted = open ? null : NOTHING;
    return {
      namespace,
      admitted: true,
      tenant: (Object.hasOwn(namespaces, namespace) && namespaces[namespace]) || unlisted,
    };
  };
  return {
    egressAllowOf: (author) => {
      const { admitted, tenant } = standingOfRun(author);
      return admitted ? (tenant?.egress_allow ?? null) : [];
    },
    receiversOf: (author) => {
      const standing = standingOfRun(author);
      // An escalation of the operator's own run arrives also where its pipeline was removed meanwhile.
      return standing === orphan && author.namespace === null ? null : receiversOf(standing);
    },
    namespaceOf: (pipeline) => standingNamed(pipeline).namespace ?? '',
    dailyBytesOf: (namespace) => {
      if (!Object.hasOwn(namespaces, namespace)) return open ? null : DAILY_BYTES;
      return namespaces[namespace]?.daily_bytes ?? DAILY_BYTES;
    },
    mayCall: (caller, called) => mayCall(standingOfRun(caller), called.standing),
    pipelinesByNamespace: () => {
      const found = new Map<string, string[]>();
      for (const { name, standing } of definitions().pipelines) {
        const { namespace, tenant } = standing;
        if (namespace === null || tenant === null) continue;
        const names = found.get(namespace);
        if (names) names.push(name);
        else found.set(namespace, [name]);
      }
      return found;
    },
  };
}
