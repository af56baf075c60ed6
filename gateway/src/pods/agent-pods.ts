import { setTimeout as delay } from 'node:timers/promises';
import { type OwnedAgent, sameOwner } from '../agents/agent-record.ts';
import { CONNECTION_LIMITS } from '../rpc/connection-limits.ts';
import { createConnectionRoom } from '../rpc/connection-room.ts';
import type { HandleRequest } from '../rpc/connection.ts';
import { PodLink } from './pod-link.ts';
import type { ToolRoom } from './tool-room.ts';

/** `refused`: it is connected and did not take its configuration. */
export type PodState = 'connected' | 'refused' | 'down';

export interface AgentPodsDeps {
  /** WebSocket addresses of an agent's pods now. */
  addresses: (agent: OwnedAgent) => Promise<string[]>;
  token: (agent: OwnedAgent) => string;
  /** Keeps what pods say of their tools. */
  room: ToolRoom;
  /** Handles requests from a pod of `agent`. */
  handle: (agent: string) => HandleRequest;
  /** Called when a pod is newly connected. */
  onOpen: (agent: OwnedAgent, link: PodLink) => void;
  onState: (state: { agent: string; url: string; state: PodState; reason: string | null }) => void;
  onBug: (error: unknown) => void;
  /** How long runs wait for the first pod of their agent. */
  startTimeoutMs: number;
}

interface Pods {
  /** Nobody else's with that name gets these. */
  agent: OwnedAgent;
  links: Map<string, PodLink>;
  /** Callers that wait for any link to open. */
  waiting: Set<() => void>;
  looking: boolean;
  lookedAt: number;
}

const LOOK_AGAIN_MS = 250;
/** How old the list of pods may be when a run starts. */
const FRESH_MS = 5000;
const PING_EVERY_MS = 20_000;
/** How often the pods of all agents are listed, with or without runs. */
const LOOK_EVERY_MS = 10_000;
const LOOKS_AT_ONCE = 16;
/** A server masks nothing. */
const PING_HEAD_BYTES = 2;

/** Connections to the pods of all agents that have their own; spreads runs over them. */
export class AgentPods {
  private readonly deps: AgentPodsDeps;
  private readonly agents = new Map<string, Pods>();
  private readonly pinging: NodeJS.Timeout;
  private readonly enterRoom = createConnectionRoom(CONNECTION_LIMITS, PING_HEAD_BYTES);
  private readonly stopping = new AbortController();
  /** Aborted when the set of agents changes. */
  private resting = new AbortController();

  constructor(deps: AgentPodsDeps) {
    this.deps = deps;
    void this.keepLooking();
    this.pinging = setInterval(() => {
      for (const { links } of this.agents.values()) for (const link of links.values()) link.checkAlive();
    }, PING_EVERY_MS);
    this.pinging.unref();
  }

  /** The connected pod with the fewest runs. */
  pick(agent: OwnedAgent): PodLink | null {
    const pods = this.podsOf(agent);
    if (!pods) return null;
    if (performance.now() - pods.lookedAt > FRESH_MS) void this.look(pods);
    const open = [...pods.links.values()].filter((link) => link.takesRuns());
    return open.reduce<PodLink | null>((least, link) => (least && least.load <= link.load ? least : link), null);
  }

  /** Null when a pod is connected; else waits for one, at most `startTimeoutMs`, and says whether it is. Rejects when `signal` aborts. */
  whenReady(agent: OwnedAgent, signal: AbortSignal): (() => Promise<boolean>) | null {
    return this.pick(agent) ? null : () => this.wait(agent, () => this.pick(agent) !== null, signal);
  }

  /** Dials this very pod until it is connected again; false when that takes longer than `withinMs`. */
  whenBack(
    agent: OwnedAgent,
    link: PodLink,
    { signal, withinMs }: { signal: AbortSignal; withinMs: number },
  ): Promise<boolean> {
    return this.wait(agent, () => link.isOpen(), signal, withinMs);
  }

  /** Connects to the pods of these agents, and drops the connections of others; those of who had one of these names at once. */
  retain(agents: readonly OwnedAgent[]): void {
    const names = new Set(agents.map(({ name }) => name));
    for (const agent of agents) {
      if (!this.podsOf(agent)) this.forget(agent.name);
      this.podsOf(agent);
    }
    this.resting.abort();
    for (const [name, { links }] of this.agents) {
      const isBusy = [...links.values()].some(({ load }) => load > 0);
      if (!names.has(name) && !isBusy) this.forget(name);
    }
  }

  /** The pods of an agent that are connected, or of all. */
  connected(agent?: string): PodLink[] {
    const wanted = agent === undefined ? [...this.agents.values()] : [this.agents.get(agent)];
    return wanted.flatMap((pods) => [...(pods?.links.values() ?? [])]).filter((link) => link.isOpen());
  }

  /** Agents of which a pod did not take its configuration, with one of the reasons. */
  refused(): Map<string, string> {
    const reasons = [...this.agents.keys()].flatMap((agent) =>
      this.connected(agent).map(({ refused }) => [agent, refused]),
    );
    return new Map(reasons.filter((entry): entry is [string, string] => entry[1] !== null));
  }

  agentsLookedAfter(): string[] {
    return [...this.agents.keys()];
  }

  close(): void {
    clearInterval(this.pinging);
    this.stopping.abort();
    this.resting.abort();
    for (const { links } of this.agents.values()) for (const link of links.values()) link.close();
    this.agents.clear();
  }

  private wait(
    agent: OwnedAgent,
    isReady: () => boolean,
    signal: AbortSignal,
    withinMs: number = this.deps.startTimeoutMs,
  ): Promise<boolean> {
    const pods = this.podsOf(agent);
    if (!pods) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearInterval(looking);
        clearTimeout(patience);
        pods.waiting.delete(check);
        signal.removeEventListener('abort', stop);
      };
      const check = () => {
        if (!isReady()) return;
        end();
        resolve(true);
      };
      const stop = () => {
        end();
        reject(signal.reason as Error);
      };
      const looking = setInterval(() => void this.look(pods), LOOK_AGAIN_MS);
      const patience = setTimeout(() => {
        end();
        resolve(isReady());
      }, withinMs);
      signal.addEventListener('abort', stop, { once: true });
      pods.waiting.add(check);
      void this.look(pods);
      check();
    });
  }

  /** Lists the pods and dials those that are not connected; drops idle connections to pods that are no longer listed. */
  private async look(pods: Pods): Promise<void> {
    if (pods.looking) return;
    const { agent } = pods;
    pods.looking = true;
    try {
      const addresses = await this.deps.addresses(agent);
      pods.lookedAt = performance.now();
      // The agent may have been dropped meanwhile; a connection dialled now would never be closed.
      if (this.agents.get(agent.name) !== pods) return;
      for (const url of addresses) pods.links.set(url, pods.links.get(url) ?? this.linkTo(url, pods));
      for (const [url, link] of pods.links) {
        link.listed = addresses.includes(url);
        // A terminating pod is no longer listed, but its runs continue.
        if (link.listed || link.load > 0) link.dial();
        else this.drop(pods, link);
      }
    } catch (error) {
      this.deps.onBug(error);
    } finally {
      pods.looking = false;
    }
  }

  private drop({ links }: Pods, link: PodLink): void {
    link.close();
    links.delete(link.url);
  }

  private async keepLooking(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      this.resting = new AbortController();
      const all = [...this.agents.values()];
      for (let from = 0; from < all.length && !signal.aborted; from += LOOKS_AT_ONCE)
        await Promise.all(all.slice(from, from + LOOKS_AT_ONCE).map((pods) => this.look(pods)));
      await delay(LOOK_EVERY_MS, undefined, { signal: this.resting.signal, ref: false }).catch(() => undefined);
    }
  }

  private linkTo(url: string, pods: Pods): PodLink {
    const { name: agent } = pods.agent;
    let wasOpen = false;
    const link = new PodLink({
      url,
      agent,
      peer: peerOf(pods.agent),
      room: this.deps.room,
      enterRoom: this.enterRoom,
      token: () => this.deps.token(pods.agent),
      handle: this.deps.handle(agent),
      onOpen: () => {
        wasOpen = true;
        this.deps.onOpen(pods.agent, link);
        this.deps.onState({ agent, url, state: 'connected', reason: null });
        for (const check of pods.waiting) check();
      },
      onRefused: (reason) => this.deps.onState({ agent, url, state: 'refused', reason }),
      onDown: (reason) => {
        if (wasOpen) this.deps.onState({ agent, url, state: 'down', reason });
        wasOpen = false;
      },
      onBug: this.deps.onBug,
    });
    return link;
  }

  /** Null where the name is somebody else's. */
  private podsOf({ name, managedBy }: OwnedAgent): Pods | null {
    const agent = { name, managedBy };
    const known = this.agents.get(name);
    if (known) return sameOwner(known.agent, agent) ? known : null;
    const pods: Pods = { agent, links: new Map(), waiting: new Set(), looking: false, lookedAt: 0 };
    this.agents.set(name, pods);
    return pods;
  }

  private forget(name: string): void {
    for (const link of this.agents.get(name)?.links.values() ?? []) link.close();
    this.agents.delete(name);
  }
}

/** The pods of a namespace share its turns. */
const peerOf = ({ name, managedBy }: OwnedAgent): string =>
  managedBy?.namespace ? `namespace ${managedBy.namespace}` : `agent ${name}`;
