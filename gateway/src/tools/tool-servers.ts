import type { CallTimeouts } from './call-limits.ts';
import { NEVER_STARTED, Supervisor, type SupervisorDeps, type SupervisorStatus } from './supervisor.ts';
import type { OpenConnection, ToolCallOptions, ToolDefinition, ToolOutcome } from './tool.ts';

export type Pinning = 'off' | 'warn' | 'enforce';

/** One configured server. An image server runs beside its agents and never here, so it has no `open`. */
export interface ToolServerSpec {
  name: string;
  transport: 'stdio' | 'http' | 'image';
  open: OpenConnection | null;
  /** The hash of the tool definitions that the operator accepted. */
  toolsHash: string | undefined;
  /** Of its calls, in place of those of all servers. */
  timeouts?: Partial<CallTimeouts>;
  /** What keeps its process from the gateway's; only of `stdio` servers. */
  isolation?: Isolation;
}

/** A user of its own, namespaces of its own, or nothing but what the gateway's user may not do. */
export type Isolation = 'user' | 'namespace' | 'none';

export interface ToolServersDeps extends Pick<
  SupervisorDeps,
  'random' | 'now' | 'schedule' | 'pingEveryMs' | 'pingTimeoutMs'
> {
  pinning: Pinning;
  onTransition: (server: string, state: SupervisorStatus['state'], reason: string | null) => void;
  /** Once for every tool set that differs from the pinned one. */
  onChangedTools: (server: string, toolsHash: string) => void;
}

/** A row of `GET /mcp/servers`. */
export interface ToolServerView {
  name: string;
  transport: ToolServerSpec['transport'];
  isolation: Isolation | null;
  running: boolean;
  state: SupervisorStatus['state'];
  pid: number | null;
  tool_count: number;
  restart_count: number;
  started_at: string | null;
  last_error: string | null;
  tools_hash: string | null;
  tools_pinned: boolean;
}

/** A tool with the server it lives on. */
export interface ServedTool extends ToolDefinition {
  server: string;
}

interface Served {
  spec: ToolServerSpec;
  supervisor: Supervisor | null;
}

/** All configured tool servers; each has its own supervisor, so a failure of one does not affect others. */
export class ToolServers {
  private readonly served = new Map<string, Served>();
  private readonly deps: ToolServersDeps;
  private readonly reported = new Map<string, string>();
  private readonly waiting = new Set<() => void>();

  constructor(specs: readonly ToolServerSpec[], deps: ToolServersDeps) {
    this.deps = deps;
    for (const spec of specs) {
      const { open, name } = spec;
      const onTransition: SupervisorDeps['onTransition'] = (state, reason) => {
        deps.onTransition(name, state, reason);
        for (const check of this.waiting) check();
      };
      this.served.set(name, { spec, supervisor: open ? new Supervisor({ ...deps, open, onTransition }) : null });
    }
  }

  start(): void {
    for (const { supervisor } of this.served.values()) supervisor?.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.served.values()].map(async ({ supervisor }) => supervisor?.stop()));
  }

  views(): ToolServerView[] {
    return [...this.served.values()].map((served) => viewOf(served, this.isPinned(served)));
  }

  /** The tools that may be called now. */
  tools(): ServedTool[] {
    return [...this.served.values()].flatMap((served) => this.toolsOf(served));
  }

  /** Another text whenever the tools of these servers that may be called are others. */
  versionOf(servers: ReadonlySet<string>): string {
    const listed = [...this.served.values()].filter(({ spec }) => servers.has(spec.name));
    return listed.map((served) => (this.offers(served) ? served.supervisor?.status().toolsHash : '')).join();
  }

  /** All tools of running servers, also those that pinning disables. */
  listedTools(): (ServedTool & { disabled: boolean })[] {
    return [...this.served.values()].flatMap((served) => {
      const disabled = this.deps.pinning === 'enforce' && !this.isPinned(served);
      return runningTools(served).map((tool) => ({ ...tool, disabled }));
    });
  }

  /** Waits until all these servers run, at most `timeoutMs`; returns those that still do not. Image servers are waited for in the pod. */
  whenRunning(servers: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<string[]> {
    const here = servers.filter((name) => this.served.get(name)?.supervisor !== null);
    const down = () => here.filter((name) => this.served.get(name)?.supervisor?.status().state !== 'running');
    if (down().length === 0) return Promise.resolve([]);
    return new Promise((resolve) => {
      const finish = () => {
        cancel();
        this.waiting.delete(check);
        signal.removeEventListener('abort', finish);
        resolve(down());
      };
      const check = () => {
        if (down().length === 0) finish();
      };
      const cancel = this.deps.schedule(finish, timeoutMs);
      this.waiting.add(check);
      signal.addEventListener('abort', finish, { once: true });
    });
  }

  async call(
    server: string,
    tool: string,
    input: Record<string, unknown>,
    options: ToolCallOptions,
  ): Promise<ToolOutcome> {
    const served = this.served.get(server);
    if (!served?.supervisor)
      return { kind: 'unavailable', text: `the tool server ${server} does not run in the gateway` };
    if (this.deps.pinning === 'enforce' && !this.isPinned(served)) {
      return {
        kind: 'unavailable',
        text: `the tools of ${server} changed and are disabled until the operator accepts them`,
      };
    }
    return served.supervisor.call(tool, input, { ...options, ...served.spec.timeouts });
  }

  private toolsOf(served: Served): ServedTool[] {
    const status = served.supervisor?.status();
    if (!status || status.state !== 'running') return [];
    const pinned = this.isPinned(served);
    if (!pinned) this.report(served.spec.name, status.toolsHash);
    return this.offers(served) ? runningTools(served) : [];
  }

  private offers(served: Served): boolean {
    const isRunning = served.supervisor?.status().state === 'running';
    return isRunning && (this.deps.pinning !== 'enforce' || this.isPinned(served));
  }

  /** Whether the definitions are the accepted ones: the operator's hash, else the first seen since the start. */
  private isPinned({ spec, supervisor }: Served): boolean {
    const status = supervisor?.status();
    if (this.deps.pinning === 'off' || !status || status.toolsHash === null) return true;
    return isHash(status.toolsHash, spec.toolsHash ?? status.firstToolsHash);
  }

  private report(server: string, toolsHash: string | null): void {
    if (toolsHash === null || this.reported.get(server) === toolsHash) return;
    this.reported.set(server, toolsHash);
    this.deps.onChangedTools(server, toolsHash);
  }
}

const SHORT = 12;

/** Earlier versions said 12 digits of the hash only, of which the author of a server can prepare two sets of tools. */
const isHash = (hash: string, accepted: string | null): boolean =>
  hash === accepted || (accepted?.length === SHORT && hash.startsWith(accepted));

function runningTools({ spec, supervisor }: Served): ServedTool[] {
  const status = supervisor?.status();
  return status?.state === 'running' ? status.tools.map((tool) => ({ ...tool, server: spec.name })) : [];
}

function viewOf({ spec, supervisor }: Served, pinned: boolean): ToolServerView {
  const status = supervisor?.status() ?? NEVER_STARTED;
  return {
    name: spec.name,
    transport: spec.transport,
    isolation: spec.isolation ?? null,
    running: status.state === 'running',
    state: status.state,
    pid: status.pid,
    tool_count: status.tools.length,
    restart_count: status.restartCount,
    started_at: status.startedAt?.toISOString() ?? null,
    last_error: status.lastError,
    tools_hash: status.toolsHash,
    tools_pinned: pinned,
  };
}
