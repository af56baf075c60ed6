import type { ProcessSpec } from './process-group.ts';
import type { ProcessWatches } from './stdio-transport.ts';
import type { Remote } from './fetch/remote-fetch.ts';
import type { OpenConnection } from './tool.ts';

type Local = {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string | undefined;
  memory_limit_mib: number;
};

/** What processes get from the gateway beside their own entry. */
export interface ProcessSurroundings extends ProcessWatches {
  environment: Record<string, string>;
  /** Keeps the process from what belongs to the gateway. */
  isolate?: (spec: ProcessSpec) => ProcessSpec;
}

/**
 * How to open a server that is a process. It gets the entry's environment and the surroundings', nothing of the gateway's.
 * The MCP client is loaded at the first start, so that a gateway without tool servers does not load it.
 */
export function openServer(entry: Local, surroundings: ProcessSurroundings): OpenConnection {
  const { environment, isolate = (spec: ProcessSpec) => spec, ...watches } = surroundings;
  const { command, args, cwd, memory_limit_mib } = entry;
  const env = { ...environment, ...entry.env };
  const secrets = Object.values(entry.env);
  const spec = isolate({ command, args, cwd, env, secrets, memoryLimitBytes: memory_limit_mib * 1024 * 1024 });
  return async (signal) => (await import('./connect-stdio.ts')).connectStdio(spec, watches, signal);
}

/** A server that is dialled; `timeoutMs`: how long a tool may take to answer. */
export function openRemote(entry: Remote, timeoutMs: number): OpenConnection {
  return async (signal) => (await import('./connect-http.ts')).connectHttp(entry, timeoutMs, signal);
}
