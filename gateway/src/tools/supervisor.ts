import { longHash } from '@signalbox/crds';
import { backoffMs, HEALTHY_AFTER_MS } from './backoff.ts';
import type { OpenConnection, ToolCallOptions, ToolConnection, ToolDefinition, ToolOutcome } from './tool.ts';

export type SupervisorState = 'starting' | 'running' | 'backoff' | 'stopped';

export interface SupervisorDeps {
  open: OpenConnection;
  random: () => number;
  now: () => Date;
  /** Runs `action` later; returns what takes it back. */
  schedule: (action: () => void, ms: number) => () => void;
  onTransition: (state: SupervisorState, reason: string | null) => void;
  pingEveryMs: number;
  pingTimeoutMs: number;
}

export interface SupervisorStatus {
  state: SupervisorState;
  pid: number | null;
  restartCount: number;
  startedAt: Date | null;
  lastError: string | null;
  tools: readonly ToolDefinition[];
  /** Over all tool definitions; null while none are known. */
  toolsHash: string | null;
  /** The hash of the first definitions seen since the start. */
  firstToolsHash: string | null;
}

export const NEVER_STARTED: SupervisorStatus = {
  state: 'stopped',
  pid: null,
  restartCount: 0,
  startedAt: null,
  lastError: null,
  tools: [],
  toolsHash: null,
  firstToolsHash: null,
};
const RELIST_DELAY_MS = 500;
/** A server may answer pings and nothing else. */
const MAX_UNANSWERED = 3;
/** A server whose last call of another agent was answered not longer ago works: its restart would only hurt that agent. */
const STILL_WORKS_MS = 5 * 60_000;

/** Keeps one tool server running: starting, running, backoff, starting … until stopped. */
export class Supervisor {
  private readonly deps: SupervisorDeps;
  private stopped = false;
  /** The open session, and the one that is being opened. */
  private connection: ToolConnection | null = null;
  private opening: ToolConnection | null = null;
  /** Of the present start only: listeners live as long as their signal. */
  private starting: AbortController | null = null;
  /** Resolves when the present start or stop is complete. */
  private settled: Promise<void> = Promise.resolve();
  private current: SupervisorStatus = NEVER_STARTED;
  private failures = 0;
  /** Calls in a row, of the present session. */
  private unanswered = 0;
  /** When the agents were answered whose last call was, in milliseconds. */
  private answered = new Map<string, number>();
  private readonly cancelTimers = new Set<() => void>();
  private relistPending = false;

  constructor(deps: SupervisorDeps) {
    this.deps = deps;
  }

  status(): SupervisorStatus {
    return this.current;
  }

  /** Begins to start the server; never rejects. */
  start(): void {
    this.settled = this.attempt();
  }

  /** Ends the server and every process of its group, also where it is just being started or ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.starting?.abort();
    this.clearTimers();
    const { connection, opening } = this;
    this.become('stopped', null, { pid: null, startedAt: null });
    await Promise.all([connection?.close(), opening?.close(), this.settled]);
  }

  async call(tool: string, input: Record<string, unknown>, options: ToolCallOptions): Promise<ToolOutcome> {
    const { connection } = this;
    if (!connection || this.current.state !== 'running') {
      return {
        kind: 'unavailable',
        text: `the tool server is not running: ${this.current.lastError ?? this.current.state}`,
      };
    }
    const outcome = await connection.call(tool, input, options);
    // Of a call that was given up nobody knows whether it would have been answered.
    if (!options.signal.aborted && !outcome.notSent) this.judge(connection, outcome, options.agent ?? '');
    return outcome;
  }

  private judge(connection: ToolConnection, { kind }: ToolOutcome, agent: string): void {
    if (this.connection !== connection) return;
    this.unanswered = kind === 'timeout' ? this.unanswered + 1 : 0;
    const now = this.deps.now().getTime();
    if (kind === 'timeout') this.answered.delete(agent);
    else this.answered.set(agent, now);
    const works = [...this.answered.values()].some((at) => now - at < STILL_WORKS_MS);
    if (this.unanswered >= MAX_UNANSWERED && !works)
      this.drop(connection, `left ${MAX_UNANSWERED} calls in a row unanswered`);
    else if (kind === 'timeout' || kind === 'unavailable') this.checkAlive(connection);
  }

  private async attempt(): Promise<void> {
    if (this.stopped) return;
    this.become('starting', null, {});
    const starting = new AbortController();
    this.starting = starting;
    let connection: ToolConnection | null = null;
    try {
      connection = await this.deps.open(starting.signal);
      this.opening = connection;
      const tools = await connection.listTools();
      if (this.stopped) return await connection.close();
      this.serve(connection, tools);
    } catch (error) {
      await connection?.close();
      this.retryLater(error instanceof Error ? error.message : 'cannot be started');
    } finally {
      this.opening = null;
    }
  }

  private serve(connection: ToolConnection, tools: ToolDefinition[]): void {
    this.connection = connection;
    this.unanswered = 0;
    this.answered.clear();
    this.become('running', null, { pid: connection.pid, startedAt: this.deps.now(), ...this.describeTools(tools) });
    this.later(HEALTHY_AFTER_MS, () => {
      this.failures = 0;
    });
    this.later(this.deps.pingEveryMs, () => this.keepPinging(connection));
    connection.onToolsChanged(() => this.relistSoon(connection));
    void connection.closed.then((reason) => this.lost(connection, reason));
  }

  private describeTools(tools: ToolDefinition[]): Pick<SupervisorStatus, 'tools' | 'toolsHash' | 'firstToolsHash'> {
    const toolsHash = longHash(tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
    return { tools, toolsHash, firstToolsHash: this.current.firstToolsHash ?? toolsHash };
  }

  /** Lists the tools at a limited rate, however often a server reports that they changed. */
  private relistSoon(connection: ToolConnection): void {
    if (this.relistPending || this.connection !== connection) return;
    this.relistPending = true;
    this.later(RELIST_DELAY_MS, () => {
      this.relistPending = false;
      void this.relist(connection);
    });
  }

  private async relist(connection: ToolConnection): Promise<void> {
    try {
      const tools = await connection.listTools();
      if (this.connection === connection) this.current = { ...this.current, ...this.describeTools(tools) };
    } catch (error) {
      this.drop(connection, `cannot list its tools: ${error instanceof Error ? error.message : 'failed'}`);
    }
  }

  private keepPinging(connection: ToolConnection): void {
    this.checkAlive(connection);
    this.later(this.deps.pingEveryMs, () => this.keepPinging(connection));
  }

  private checkAlive(connection: ToolConnection): void {
    connection.ping(this.deps.pingTimeoutMs).catch(() => this.drop(connection, 'does not answer a ping'));
  }

  /** Ends a broken session; `lost` follows. */
  private drop(connection: ToolConnection, reason: string): void {
    if (this.connection !== connection) return;
    this.lost(connection, reason);
    void connection.close();
  }

  private lost(connection: ToolConnection, reason: string): void {
    if (this.connection !== connection || this.stopped) return;
    this.settled = connection.close().then(() => this.retryLater(reason));
    this.connection = null;
    this.clearTimers();
    this.become('backoff', reason, { pid: null, startedAt: null, tools: [], lastError: reason });
  }

  private retryLater(reason: string): void {
    if (this.stopped) return;
    this.failures += 1;
    this.connection = null;
    this.clearTimers();
    const { restartCount } = this.current;
    this.become('backoff', reason, {
      pid: null,
      startedAt: null,
      tools: [],
      lastError: reason,
      restartCount: restartCount + 1,
    });
    this.later(backoffMs(this.failures, this.deps.random()), () => this.start());
  }

  private later(ms: number, action: () => void): void {
    const cancel = this.deps.schedule(() => {
      this.cancelTimers.delete(cancel);
      action();
    }, ms);
    this.cancelTimers.add(cancel);
  }

  private clearTimers(): void {
    for (const cancel of this.cancelTimers) cancel();
    this.cancelTimers.clear();
    this.relistPending = false;
  }

  private become(state: SupervisorState, reason: string | null, change: Partial<SupervisorStatus>): void {
    const changed = this.current.state !== state;
    this.current = { ...this.current, ...change, state };
    if (changed) this.deps.onTransition(state, reason);
  }
}
