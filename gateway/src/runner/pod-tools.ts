import { openRemote } from '../tools/open-server.ts';
import { type ServedTool, ToolServers, type ToolServersDeps } from '../tools/tool-servers.ts';
import type { RunnerConfiguration } from './protocol.ts';

type Servers = Pick<RunnerConfiguration, 'image_servers' | 'tool_pinning'>;

/** The tool servers in the runner's pod, reached on localhost; dialled again when the configuration changes. */
export class PodTools {
  private readonly deps: Omit<ToolServersDeps, 'pinning'>;
  private configured = '';
  private servers: ToolServers | null = null;
  private names: ReadonlySet<string> = new Set();

  constructor(deps: Omit<ToolServersDeps, 'pinning'>) {
    this.deps = deps;
  }

  configure({ image_servers, tool_pinning }: Servers): void {
    const text = JSON.stringify([image_servers, tool_pinning]);
    if (text === this.configured) return;
    this.configured = text;
    const old = this.servers;
    this.names = new Set(image_servers.map(({ name }) => name));
    this.servers = new ToolServers(
      image_servers.map(({ name, port, path, tools_hash, timeouts }) => ({
        name,
        transport: 'http',
        toolsHash: tools_hash,
        timeouts,
        open: openRemote({ url: `http://127.0.0.1:${port}${path}`, headers: {} }, timeouts.timeoutMs),
      })),
      { ...this.deps, pinning: tool_pinning },
    );
    this.servers.start();
    void old?.stop();
  }

  has(server: string): boolean {
    return this.names.has(server);
  }

  tools(): ServedTool[] {
    return this.servers?.tools() ?? [];
  }

  /** Of these servers, those in the pod that still do not run after the wait; the gateway checks its own. */
  async whenRunning(servers: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<string[]> {
    const here = servers.filter((name) => this.names.has(name));
    return this.servers && here.length > 0 ? this.servers.whenRunning(here, timeoutMs, signal) : [];
  }

  call: ToolServers['call'] = async (server, tool, input, options) => {
    if (this.servers) return this.servers.call(server, tool, input, options);
    return { kind: 'unavailable', text: `the tool server ${server} does not run here` };
  };

  async stop(): Promise<void> {
    await this.servers?.stop();
  }
}
