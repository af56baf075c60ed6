import { createTurns } from '@signalbox/crds/process/in-turn';
import { type AgentRecord, type OwnedAgent, sameOwner } from '../agents/agent-record.ts';
import type { PodLink } from './pod-link.ts';
import type { WrittenConfiguration } from './written-configuration.ts';

export interface ConfiguringDeps {
  agent: (name: string) => AgentRecord | undefined;
  write: (agent: AgentRecord) => WrittenConfiguration;
  /** Another text whenever the agent's tools are others. */
  toolsVersion: (agent: AgentRecord) => string;
  onBug: (error: unknown) => void;
}

/** A request that needs a configuration before it. */
export interface Configured<Answer> {
  agent: AgentRecord;
  ask: () => Promise<Answer>;
  signal: AbortSignal;
}

/** Configurations that are on their way to pods, of 8 MiB at most: all pods together may leave 64 MiB unread. */
const PLACES = 4;
/** Of texts that are kept while pods wait for them. */
const MOST_CHARS = 16 * 1024 * 1024;

type Work = () => Promise<void> | void;

/** Configures pods in turns of the event loop. One of a peer follows when the text for the one before is taken. */
export class Configuring {
  private readonly deps: ConfiguringDeps;
  private readonly inTurn = createTurns({ forNobody: true });
  /** What waits and what is on its way, of each peer. */
  private readonly work = new Map<string, Work[]>();
  /** Peers of which nothing is on its way. */
  private readonly ready: string[] = [];
  private busy = 0;
  private readonly waiting = new Set<PodLink>();
  private readonly written = new Map<AgentRecord, WrittenConfiguration>();
  /** What was written last, also where the text is not kept. */
  private readonly known = new WeakMap<AgentRecord, { tools: string; hash: string }>();
  private chars = 0;

  constructor(deps: ConfiguringDeps) {
    this.deps = deps;
  }

  /** Configures pods of the agent as it is when it is their turn. */
  add(owned: OwnedAgent, links: readonly PodLink[]): void {
    for (const link of links.filter((one) => !this.waiting.has(one))) {
      this.waiting.add(link);
      this.enter(link.peer, () => {
        this.waiting.delete(link);
        const agent = this.deps.agent(owned.name);
        if (link.isOpen() && agent && sameOwner(agent, owned)) return link.configure(this.writtenOf(agent));
      });
    }
  }

  /**
   * Asks at once where the pod is known to have the configuration, else in the moment in which it is sent, in a turn. Rejects when
   * `signal` aborts before.
   */
  ask<Answer>(link: PodLink, { agent, ask, signal }: Configured<Answer>): Promise<Answer> {
    if (this.has(link, agent)) return ask();
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = () => reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      this.enter(link.peer, () => {
        signal.removeEventListener('abort', stop);
        if (signal.aborted) return;
        const taken = this.has(link, agent) ? undefined : link.configure(this.writtenOf(agent));
        resolve(ask());
        return taken;
      });
    });
  }

  /** Texts of before are not sent any more. */
  forget(): void {
    this.written.clear();
    this.chars = 0;
  }

  private has(link: PodLink, agent: AgentRecord): boolean {
    const hash = this.hashOf(agent);
    return hash !== null && link.has({ hash });
  }

  /** Null where it was never written, or its tools are others since. */
  private hashOf(agent: AgentRecord): string | null {
    const known = this.known.get(agent);
    return known?.tools === this.deps.toolsVersion(agent) ? known.hash : null;
  }

  private writtenOf(agent: AgentRecord): WrittenConfiguration {
    const kept = this.written.get(agent);
    if (kept && kept.hash === this.hashOf(agent)) return kept;
    const tools = this.deps.toolsVersion(agent);
    const made = this.deps.write(agent);
    if (kept || this.chars + made.json.length > MOST_CHARS) this.forget();
    this.chars += made.json.length;
    this.written.set(agent, made);
    this.known.set(agent, { tools, hash: made.hash });
    return made;
  }

  private enter(peer: string, work: Work): void {
    const all = this.work.get(peer);
    if (all) return void all.push(work);
    this.work.set(peer, [work]);
    this.ready.push(peer);
    this.next();
  }

  private next(): void {
    const peer = this.busy < PLACES ? this.ready.shift() : undefined;
    if (peer === undefined) return;
    this.busy += 1;
    this.inTurn(() => void this.serve(peer));
  }

  private async serve(peer: string): Promise<void> {
    const all = this.work.get(peer) ?? [];
    try {
      await all.shift()?.();
    } catch (error) {
      this.deps.onBug(error);
    }
    this.busy -= 1;
    if (all.length > 0) this.ready.push(peer);
    else this.work.delete(peer);
    if (this.work.size === 0) this.forget();
    this.next();
  }
}
