import type { GatewayConfig } from '../config/schema.ts';
import { timeoutsOf } from './timeouts.ts';
import { createMemoryWatch } from '../tools/memory-watch.ts';
import { openRemote, openServer, type ProcessSurroundings } from '../tools/open-server.ts';
import { createOrphanWatch } from '../tools/orphan-watch.ts';
import { createReadUse } from '../tools/read-use.ts';
import { schedule } from '../tools/schedule.ts';
import { type ToolServerSpec, ToolServers } from '../tools/tool-servers.ts';
import type { Stages, OpenedIsolation, OpenedTools } from './stages.ts';

const PING_EVERY_MS = 30_000;
const PING_TIMEOUT_MS = 5000;
const WATCH_MEMORY_MS = 2000;

export function openTools({
  config,
  baseEnvironment: environment,
  isolation,
  log,
  metrics,
}: Pick<Stages, 'config' | 'baseEnvironment' | 'isolation' | 'log' | 'metrics'>): OpenedTools {
  const orphanWatch = createOrphanWatch(environment['PATH'], (problem) =>
    log.warn({ problem }, 'no shell to watch for orphans: tool servers may outlive a killed gateway'),
  );
  const watchMemory = createMemoryWatch(createReadUse(), WATCH_MEMORY_MS);
  const servers = new ToolServers(specsOf(config, { environment, watchMemory, orphanWatch }, isolation), {
    pinning: config.tool_pinning,
    random: Math.random,
    now: () => new Date(),
    schedule,
    pingEveryMs: PING_EVERY_MS,
    pingTimeoutMs: PING_TIMEOUT_MS,
    onTransition: (server, state, reason) => {
      if (state === 'backoff') log.warn({ server, reason }, 'tool server is down');
      else log.info({ server, state }, 'tool server');
    },
    onChangedTools: (server, tools_hash) => {
      metrics.toolsChanged(server);
      log.warn({ server, tools_hash }, 'tool definitions differ from the pinned ones');
    },
  });
  return {
    servers,
    stop: async () => {
      await servers.stop();
      orphanWatch.close();
    },
  };
}

function specsOf(
  { mcp_servers: entries, limits }: Pick<GatewayConfig, 'mcp_servers' | 'limits'>,
  surroundings: ProcessSurroundings,
  isolation: OpenedIsolation,
): ToolServerSpec[] {
  return Object.entries(entries).map(([name, entry]) => {
    const timeouts = timeoutsOf(entry, limits);
    const common = { name, toolsHash: entry.tools_hash, timeouts };
    if ('image' in entry) return { ...common, transport: 'image', open: null };
    if ('url' in entry) return { ...common, transport: 'http', open: openRemote(entry, timeouts.timeoutMs) };
    const { kind, isolate } = isolation.of(name);
    const open = openServer(entry, { ...surroundings, isolate });
    return { ...common, transport: 'stdio', open, isolation: kind };
  });
}
