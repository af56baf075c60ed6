import { join } from 'node:path';
import { type AgentPair, deletePair, listAgents, finishSwaps, readPair, writePair } from './agent-files.ts';
import type { AgentRecord, KnownNames, ValidationItem } from './agent-record.ts';
import { readOwners } from './managed.ts';
import { validateAgent, warningsOf } from './validate.ts';

export interface RegistryOptions {
  agentsDir: string;
  managedDir: string | undefined;
  known: KnownNames;
}

/**
 * The result of a load. `errors` holds errors of agents that were not loaded or kept their last good version, and warnings
 * about loaded ones.
 */
export interface LoadReport {
  agents: AgentRecord[];
  errors: ValidationItem[];
}

export type WriteResult =
  | { ok: true; record: AgentRecord; changed: boolean; warnings: ValidationItem[] }
  | { ok: false; reason: 'invalid'; errors: ValidationItem[] }
  | { ok: false; reason: 'exists' | 'missing' }
  | { ok: false; reason: 'managed'; managedBy: NonNullable<AgentRecord['managedBy']> };

/** The live agents. Every method is synchronous, so no caller sees a half-done change. */
export class AgentRegistry {
  private readonly options: RegistryOptions;
  private agents = new Map<string, AgentRecord>();
  private lastErrors: ValidationItem[] = [];

  constructor(options: RegistryOptions) {
    this.options = options;
  }

  get(name: string): AgentRecord | undefined {
    return this.agents.get(name);
  }

  list(): AgentRecord[] {
    return [...this.agents.values()];
  }

  size(): number {
    return this.agents.size;
  }

  errors(): readonly ValidationItem[] {
    return this.lastErrors;
  }

  /** Reads both directories again. A broken agent keeps its last good version, if it had one. */
  load(): LoadReport {
    const { agentsDir, managedDir } = this.options;
    finishSwaps(agentsDir);
    const loaded = new Map<string, AgentRecord>();
    const errors: ValidationItem[] = [];
    const managed = new Set<string>();
    if (managedDir !== undefined) {
      const ownerOf = readOwners(managedDir);
      const directory = join(managedDir, 'agents');
      for (const name of listAgents(directory)) managed.add(name);
      for (const name of managed) this.loadOne({ directory, name, managedBy: ownerOf(name) }, loaded, errors);
    }
    for (const name of listAgents(agentsDir)) {
      if (managed.has(name)) errors.push(conflict(name));
      else this.loadOne({ directory: agentsDir, name, managedBy: null }, loaded, errors);
    }
    for (const { config } of loaded.values()) errors.push(...warningsOf(config, this.options.known));
    this.agents = loaded;
    this.lastErrors = errors;
    return { agents: this.list(), errors };
  }

  /** Creates an agent, or replaces it with `overwrite`; it is live when this returns (Gateway 4). */
  create(name: string, pair: AgentPair, overwrite: boolean): WriteResult {
    const validated = validateAgent({ ...pair, expectedName: name, managedBy: null }, this.options.known);
    if (!validated.ok) return { ok: false, reason: 'invalid', errors: validated.errors };
    const managedBy = this.ownerOf(name);
    if (managedBy) return { ok: false, reason: 'managed', managedBy };
    if (!overwrite && this.isTaken(name)) return { ok: false, reason: 'exists' };
    return this.write(name, pair);
  }

  /** Changes one file or both of an agent; an absent file keeps its content. */
  update(name: string, change: Partial<AgentPair>): WriteResult {
    const managedBy = this.ownerOf(name);
    if (managedBy) return { ok: false, reason: 'managed', managedBy };
    const current = this.isTaken(name) ? this.currentPair(name) : null;
    if (!current) return { ok: false, reason: 'missing' };
    const pair = { agentYaml: change.agentYaml ?? current.agentYaml, soul: change.soul ?? current.soul };
    const validated = validateAgent({ ...pair, expectedName: name, managedBy: null }, this.options.known);
    if (!validated.ok) return { ok: false, reason: 'invalid', errors: validated.errors };
    return this.write(name, pair);
  }

  /** Deletes an agent, a broken one too, and returns the content of its files. */
  remove(name: string): { ok: true; pair: AgentPair } | Exclude<WriteResult, { ok: true }> {
    const managedBy = this.ownerOf(name);
    if (managedBy) return { ok: false, reason: 'managed', managedBy };
    if (!this.isTaken(name)) return { ok: false, reason: 'missing' };
    const pair = this.currentPair(name) ?? { agentYaml: '', soul: '' };
    deletePair(this.options.agentsDir, name);
    this.agents.delete(name);
    this.load();
    return { ok: true, pair };
  }

  /** The custom resource that manages an agent, which makes it read-only even while its files are broken. */
  private ownerOf(name: string): AgentRecord['managedBy'] {
    const live = this.agents.get(name)?.managedBy;
    const { managedDir } = this.options;
    if (live || managedDir === undefined) return live ?? null;
    return listAgents(join(managedDir, 'agents')).includes(name) ? readOwners(managedDir)(name) : null;
  }

  private write(name: string, pair: AgentPair): WriteResult {
    const changed = !this.isWritten(name, pair);
    if (changed) writePair(this.options.agentsDir, name, pair);
    this.load();
    const record = this.agents.get(name);
    if (!record) throw new Error('an agent that was just validated and written did not load');
    return { ok: true, record, changed, warnings: warningsOf(record.config, this.options.known) };
  }

  private isWritten(name: string, { agentYaml, soul }: AgentPair): boolean {
    const read = readPair(this.options.agentsDir, name);
    return read.ok && read.pair.agentYaml === agentYaml && read.pair.soul === soul;
  }

  private isTaken(name: string): boolean {
    return listAgents(this.options.agentsDir).includes(name);
  }

  private currentPair(name: string): AgentPair | null {
    const read = readPair(this.options.agentsDir, name);
    if (read.ok) return read.pair;
    const live = this.agents.get(name);
    return live ? { agentYaml: live.agentYaml, soul: live.soul } : null;
  }

  private loadOne(
    source: { directory: string; name: string; managedBy: AgentRecord['managedBy'] },
    into: Map<string, AgentRecord>,
    errors: ValidationItem[],
  ): void {
    const { directory, name, managedBy } = source;
    const previous = this.agents.get(name);
    const lastGood = previous && (previous.managedBy === null) === (managedBy === null) ? previous : undefined;
    const read = readPair(directory, name);
    if (!read.ok) {
      errors.push({ agent: name, field: read.file, value: null, message: read.message, severity: 'error' });
      if (lastGood) into.set(name, lastGood);
      return;
    }
    const { pair } = read;
    if (lastGood && lastGood.agentYaml === pair.agentYaml && lastGood.soul === pair.soul) {
      into.set(name, { ...lastGood, managedBy });
      return;
    }
    const validated = validateAgent({ ...pair, expectedName: name, managedBy }, this.options.known);
    if (validated.ok) into.set(name, validated.record);
    else {
      errors.push(...validated.errors);
      if (lastGood) into.set(name, lastGood);
    }
  }
}

function conflict(name: string): ValidationItem {
  return {
    agent: name,
    field: 'name',
    value: name,
    message: 'the name belongs to a managed agent, which is used instead',
    severity: 'error',
  };
}
