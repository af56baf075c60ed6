import type { Agent, ObjectReference } from '@signalbox/crds';

/** A loaded agent: the text of both files and the parsed configuration. */
export interface AgentRecord {
  name: string;
  /** Identifies behaviour: configuration without description, tags, runtime, and the soul. */
  version: string;
  config: Agent;
  agentYaml: string;
  soul: string;
  /** The custom resource that owns the files; null for files of the editable directory. */
  managedBy: ObjectReference | null;
}

/** An agent, and whose it is. */
export type OwnedAgent = Pick<AgentRecord, 'name' | 'managedBy'>;

/** Whether two agents of one name are of the same namespace, or both of the operator's files: else they have nothing of each other. */
export const sameOwner = (one: OwnedAgent, other: OwnedAgent): boolean =>
  one.managedBy?.namespace === other.managedBy?.namespace;

/** The names in the operator's configuration that an agent may refer to. */
export interface KnownNames {
  /** Why a model string leads to no configured provider; null where it leads to one. */
  modelProblem(model: string): string | null;
  /** The operator's limit of turns in a run; an agent's own limit may only be lower. */
  maxIterations: number;
  /** The provider that a model string leads to, where it has no key; null where it has one. */
  keylessProvider(model: string): string | null;
  /** Tool servers by name; image servers run only in the pods of agents. */
  servers: ReadonlyMap<string, 'process' | 'image'>;
  /** Where an agent runs; the default depends on whether a controller manages it. */
  modeOf(config: Agent, managed: boolean): 'process' | 'kubernetes';
}

/** One validation error or warning (Gateway 2). */
export interface ValidationItem {
  agent: string;
  field: string;
  value: unknown;
  message: string;
  severity: 'error' | 'warning';
}

/** A change of an agent that was made: from where, and the versions of the agent; null where there was none, or is none any more. */
export interface AgentChanged {
  action: 'create' | 'overwrite' | 'update' | 'delete';
  agent: string;
  version_before: string | null;
  version: string | null;
  address: string;
}
