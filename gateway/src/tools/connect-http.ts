import { createConceal } from '../observability/conceal.ts';
import { HttpTransport } from './http-transport.ts';
import { connectMcp } from './mcp-connection.ts';
import type { ToolConnection } from './tool.ts';

/** Dials a tool server over streamable HTTP and opens a session with it. */
export function connectHttp(
  server: { url: string; headers: Record<string, string> },
  signal: AbortSignal,
): Promise<ToolConnection> {
  const transport = new HttpTransport(server);
  const conceal = createConceal(secretsOf(server));
  return connectMcp({ transport, pid: () => null, reason: () => transport.reason, conceal }, signal);
}

/** Headers as a whole and word by word, because a server may repeat a token without its scheme; and what an address may hold. */
function secretsOf({ url, headers }: { url: string; headers: Record<string, string> }): string[] {
  const { username, password, search, searchParams } = new URL(url);
  const words = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  return [...words, username, password, search.slice(1), ...searchParams.values()];
}
