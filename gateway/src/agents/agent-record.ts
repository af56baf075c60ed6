import type { Agent, ObjectReference } from '@signalbox/crds';

/** An agent as loaded: both files as they stand on disk and what they mean. */
export interface AgentRecord {
  name: string;
  /** Identifies behaviour: configuration without description, tags, runtime, and the soul (Design 6). */
  version: string;
  config: Agent;
  agentYaml: string;
  soul: string;
  /** The custom resource that owns the files; null for files of the editable directory. */
  managedBy: ObjectReference | null;
}

/** What agents may refer to: the operator's configuration, not theirs. */
export interface KnownNames {
  /** Why a model string leads to no configured provider; null where it leads to one. */
  modelProblem(model: string): string | null;
  /** Turns that a run may take at most, whatever its agent says. */
  maxIterations: number;
  /** The provider that a model string leads to, where it has no key; null where it can be asked. */
  keylessProvider(model: string): string | null;
  /** Tool servers by name; image servers run only beside agents with a pod of their own. */
  servers: ReadonlyMap<string, 'process' | 'image'>;
  /** Where an agent runs that does not say, by the origin of its files. */
  modeOf(config: Agent, managed: boolean): 'process' | 'kubernetes';
}

/** One thing wrong with a candidate (Gateway 2). */
export interface ValidationItem {
  agent: string;
  field: string;
  value: unknown;
  message: string;
  severity: 'error' | 'warning';
}
