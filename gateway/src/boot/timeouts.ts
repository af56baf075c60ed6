import { type CallTimeouts, longestOf } from '../tools/call-limits.ts';
import type { Limits } from '../config/schema.ts';
import type { ToolServerConfig } from '../config/tool-server-schema.ts';

/** Of the calls of one server: what its entry says, else what holds for all servers. */
export function timeoutsOf(entry: ToolServerConfig, { tool_timeout_seconds }: Limits): CallTimeouts {
  const timeoutMs = (entry.timeout_seconds ?? tool_timeout_seconds) * 1000;
  const longest = entry.max_timeout_seconds;
  return { timeoutMs, maxTimeoutMs: longest === undefined ? longestOf(timeoutMs) : longest * 1000 };
}
