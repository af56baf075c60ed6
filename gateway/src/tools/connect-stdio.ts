import { createConceal } from '../observability/conceal.ts';
import { connectMcp } from './mcp-connection.ts';
import type { ProcessSpec } from './process-group.ts';
import { type ProcessWatches, StdioTransport } from './stdio-transport.ts';
import type { ToolConnection } from './tool.ts';

/** Starts a local tool server and opens a session with it. */
export function connectStdio(spec: ProcessSpec, watches: ProcessWatches, signal: AbortSignal): Promise<ToolConnection> {
  const transport = new StdioTransport(spec, watches);
  const conceal = createConceal(spec.secrets);
  return connectMcp({ transport, pid: () => transport.pid, reason: () => transport.reason, conceal }, signal);
}
