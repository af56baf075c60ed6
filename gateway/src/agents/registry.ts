import { join } from 'node:path';
import { AppError } from '@signalbox/crds';
import { type AgentPair, deletePair, listAgents, finishSwaps, readPair, writePair } from './agent-files.ts';
import { type AgentRecord, type KnownNames, sameOwner, type ValidationItem } from './agent-record.ts';
import { readOwners } from './managed.ts';
import { type JudgeSchema, type Validated, validateAgent, warningsOf } from './validate.ts';

export interface RegistryOptions {
  agentsDir: string;
  managedDir: string | undefined;
  known: KnownNames;
  judge: JudgeSchema;
  /** Lets other work in between two agents. */
  rest: () => Promise<void>;
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
export type RemoveResult = { ok: true; pair: AgentPair } | Exclude<WriteResult, { ok: true }>;

/** Where the files of an agent are, and whose they are. */
interface Place {
  directory: string;
  name: string;
  managedBy: AgentRecord['managedBy'];
}

/** Loads and writes that wait, each with both texts. */
const MAX_WAITING = 256;

/** The live agents. Loads and writes come one after the other, and readers see the agents of before until one is complete. */
export class AgentRegistry {
  private readonly options: RegistryOptions;
  private agents = new Map<string, AgentRecord>();
  private lastErrors: ValidationItem[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

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
  load(): Promise<LoadReport> {
    return this.inTurn(() => this.loadNow());
  }

  /** Creates an agent, or replaces it with `overwrite`; it is live when this settles (Gateway 4). */
  create(name: string, pair: AgentPair, overwrite: boolean): Promise<WriteResult> {
    return this.inTurn(async () => {
      const validated = await this.validate(name, pair);
      if (!validated.ok) return { ok: false, reason: 'invalid', errors: validated.errors };
      const managedBy = this.ownerOf(name);
      if (managedBy) return { ok: false, reason: 'managed', managedBy };
      if (!overwrite && this.isTaken(name)) return { ok: false, reason: 'exists' };
      return this.write(name, pair);
    });
  }

  /** Changes one file or both of an agent; an absent file keeps its content. */
  update(name: string, change: Partial<AgentPair>): Promise<WriteResult> {
    return this.inTurn(async () => {
      const managedBy = this.ownerOf(name);
      if (managedBy) return { ok: false, reason: 'managed', managedBy };
      const current = this.isTaken(name) ? this.currentPair(name) : null;
      if (!current) return { ok: false, reason: 'missing' };
      const pair = { agentYaml: change.agentYaml ?? current.agentYaml, soul: change.soul ?? current.soul };
      const validated = await this.validate(name, pair);
      if (!validated.ok) return { ok: false, reason: 'invalid', errors: validated.errors };
      return this.write(name, pair);
    });
  }

  /** Deletes an agent, a broken one too, and returns the content of its files. */
  remove(name: string): Promise<RemoveResult> {
    return this.inTurn(async () => {
      const managedBy = this.ownerOf(name);
      if (managedBy) return { ok: false, reason: 'managed', managedBy };
      if (!this.isTaken(name)) return { ok: false, reason: 'missing' };
      const pair = this.currentPair(name) ?? { agentYaml: '', soul: '' };
      deletePair(this.options.agentsDir, name);
      this.agents.delete(name);
      await this.loadNow();
      return { ok: true, pair };
    });
  }

  private inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (this.waiting >= MAX_WAITING)
      return Promise.reject(new AppError('unavailable', 'too many changes of agents are waiting; try again'));
    this.waiting += 1;
    const mine = this.last.then(job).finally(() => (this.waiting -= 1));
    this.last = mine.catch(() => undefined);
    return mine;
  }

  private async loadNow(): Promise<LoadReport> {
    const { agentsDir, managedDir, known, rest } = this.options;
    finishSwaps(agentsDir);
    const loaded = new Map<string, AgentRecord>();
    const errors: ValidationItem[] = [];
    for (const { place, isTaken } of placesIn(agentsDir, managedDir)) {
      await rest();
      if (isTaken) errors.push(conflict(place));
      else await this.loadOne(place, loaded, errors);
    }
    for (const { config } of loaded.values()) errors.push(...warningsOf(config, known));
    this.agents = loaded;
    this.lastErrors = errors;
    return { agents: this.list(), errors };
  }

  private validate(name: string, pair: AgentPair, managedBy: AgentRecord['managedBy'] = null): Promise<Validated> {
    const { known, judge } = this.options;
    return validateAgent({ ...pair, expectedName: name, managedBy }, known, judge);
  }

  /** The custom resource that manages an agent, which makes it read-only even while its files are broken. */
  private ownerOf(name: string): AgentRecord['managedBy'] {
    const { agentsDir, managedDir } = this.options;
    const place = placesIn(agentsDir, managedDir).find((one) => one.place.name === name && !one.isTaken)?.place;
    return place?.managedBy ?? null;
  }

  private async write(name: string, pair: AgentPair): Promise<WriteResult> {
    const changed = !this.isWritten(name, pair);
    if (changed) writePair(this.options.agentsDir, name, pair);
    await this.loadNow();
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

  private async loadOne(
    { directory, name, managedBy }: Place,
    into: Map<string, AgentRecord>,
    errors: ValidationItem[],
  ): Promise<void> {
    const previous = this.agents.get(name);
    const lastGood = previous && sameOwner(previous, { name, managedBy }) ? previous : undefined;
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
    const validated = await this.validate(name, pair, managedBy);
    if (validated.ok) into.set(name, validated.record);
    else {
      errors.push(...validated.errors);
      if (lastGood) into.set(name, lastGood);
    }
  }
}

/**
 * All agents on disk: those of the release's namespace, then the editable ones, then those of other namespaces, whose authors must not get
 * what the tool policy and the pipelines of the operator mean for an agent of that name. `isTaken` where one before has the name.
 */
function placesIn(agentsDir: string, managedDir: string | undefined): { place: Place; isTaken: boolean }[] {
  const { own, others } = managedDir === undefined ? { own: [], others: [] } : managedPlaces(managedDir);
  const editable = listAgents(agentsDir).map((name): Place => ({ directory: agentsDir, name, managedBy: null }));
  const taken = new Set<string>();
  return [...own, ...editable, ...others].map((place) => {
    const isTaken = taken.has(place.name);
    taken.add(place.name);
    return { place, isTaken };
  });
}

function managedPlaces(managedDir: string): { own: Place[]; others: Place[] } {
  const directory = join(managedDir, 'agents');
  // In this order: the manifest names a file before it is written.
  const names = listAgents(directory);
  const { of, home } = readOwners(managedDir);
  const places = names.map((name): Place => ({ directory, name, managedBy: of(name) }));
  const { own = [], others = [] } = Object.groupBy(places, ({ managedBy }) =>
    home === null || managedBy?.namespace === home ? 'own' : 'others',
  );
  return { own, others };
}

function conflict({ name, managedBy }: Place): ValidationItem {
  const kept = managedBy === null ? 'a managed agent' : 'an agent of the operator';
  return {
    agent: name,
    field: 'name',
    value: name,
    message: `the name belongs to ${kept}, which is used instead`,
    severity: 'error',
  };
}
