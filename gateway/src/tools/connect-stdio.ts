import { createConceal } from '../observability/conceal.ts';
import { connectMcp } from './mcp-connection.ts';
import type { WatchMemory } from './memory-watch.ts';
import type { ProcessSpec } from './process-group.ts';
import { StdioTransport } from './stdio-transport.ts';
import type { ToolConnection } from './tool.ts';

/** Starts a local tool server and opens a session with it. */
export function connectStdio(
  spec: ProcessSpec,
  watchMemory: WatchMemory,
  signal: AbortSignal,
): Promise<ToolConnection> {
  const transport = new StdioTransport(spec, watchMemory);
  const conceal = createConceal(Object.values(spec.env));
  return connectMcp({ transport, pid: () => transport.pid, reason: () => conceal(transport.reason) }, signal);
}
