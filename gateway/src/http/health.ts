import type { z } from 'zod';
import type { ToolServerView } from '../tools/tool-servers.ts';
import type { Health } from './schemas/service.ts';

interface Counts {
  version: string;
  agents: number;
  activeRuns: number;
  waitingApprovals: number;
  maxConcurrentRuns: number;
  /** What the operator should look at; the status does not depend on it. */
  warnings: readonly string[];
}

/** The health object (Gateway 2): degraded while any server that this process runs or dials is down. */
export function healthOf(counts: Counts, servers: readonly ToolServerView[]): z.infer<typeof Health> {
  const own = servers.filter(({ transport }) => transport !== 'image');
  return {
    status: own.every(({ running }) => running) ? 'ok' : 'degraded',
    version: counts.version,
    agents: counts.agents,
    active_runs: counts.activeRuns,
    waiting_approvals: counts.waitingApprovals,
    max_concurrent_runs: counts.maxConcurrentRuns,
    mcp_servers: Object.fromEntries(own.map(({ name, running, restart_count }) => [name, { running, restart_count }])),
    warnings: [...counts.warnings],
  };
}
