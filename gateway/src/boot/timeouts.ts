import type { CallTimeouts } from '../tools/call-limits.ts';
import type { ToolServerConfig } from '../config/schema.ts';

/** What an entry says of its calls; what it leaves out is that of all servers. */
export function timeoutsOf({ timeout_seconds: timeout, max_timeout_seconds: longest }: ToolServerConfig) {
  const timeouts: Partial<CallTimeouts> = {};
  if (timeout !== undefined) timeouts.timeoutMs = timeout * 1000;
  if (longest !== undefined) timeouts.maxTimeoutMs = longest * 1000;
  return timeouts;
}
