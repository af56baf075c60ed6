import type { OpenConnection } from './tool.ts';

type Entry =
  | { command: string; args: string[]; env: Record<string, string>; cwd?: string | undefined }
  | { url: string; headers: Record<string, string> };

/**
 * How to open one configured server. A process gets the entry's environment and `baseEnvironment`, nothing of the gateway's.
 * The MCP client is loaded at the first start, so that a gateway without tool servers never pays for it.
 */
export function openServer(entry: Entry, baseEnvironment: Record<string, string>): OpenConnection {
  if ('url' in entry) return async (signal) => (await import('./connect-http.ts')).connectHttp(entry, signal);
  const spec = { command: entry.command, args: entry.args, cwd: entry.cwd, env: { ...baseEnvironment, ...entry.env } };
  return async (signal) => (await import('./connect-stdio.ts')).connectStdio(spec, signal);
}
