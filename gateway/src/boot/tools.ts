import type { ToolServerConfig } from '../config/schema.ts';
import { timeoutsOf } from './timeouts.ts';
import { createMemoryWatch, readMemory } from '../tools/memory-watch.ts';
import { openServer, type ProcessSurroundings } from '../tools/open-server.ts';
import { createOrphanWatch } from '../tools/orphan-watch.ts';
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
  const watchMemory = createMemoryWatch(readMemory, WATCH_MEMORY_MS);
  const servers = new ToolServers(specsOf(config.mcp_servers, { environment, watchMemory, orphanWatch }, isolation), {
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
  entries: Readonly<Record<string, ToolServerConfig>>,
  surroundings: ProcessSurroundings,
  isolation: OpenedIsolation,
): ToolServerSpec[] {
  return Object.entries(entries).map(([name, entry]) => {
    const accepted = { toolsHash: entry.tools_hash, timeouts: timeoutsOf(entry) };
    if ('image' in entry) return { name, transport: 'image', open: null, ...accepted };
    if ('url' in entry) return { name, transport: 'http', open: openServer(entry, surroundings), ...accepted };
    const { kind, isolate } = isolation.of(name);
    const open = openServer(entry, { ...surroundings, isolate });
    return { name, transport: 'stdio', open, ...accepted, isolation: kind };
  });
}
