import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createConceal } from '../observability/conceal.ts';
import { answeredFetch } from './answered-fetch.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { connectMcp } from './mcp-connection.ts';
import type { ToolConnection } from './tool.ts';

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Dials a tool server over streamable HTTP. Redirects to another origin are not followed; a request whose answer cannot come any more fails at once. */
export function connectHttp(
  server: { url: string; headers: Record<string, string> },
  signal: AbortSignal,
): Promise<ToolConnection> {
  const transport: StreamableHTTPClientTransport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: server.headers },
    fetch: answeredFetch(boundedFetch(fetch, MAX_MESSAGE_BYTES), (message) => transport.onmessage?.(message)),
  });
  return connectMcp(
    { transport, pid: () => null, reason: () => 'closed', conceal: createConceal(secretsOf(server)) },
    signal,
  );
}

/** Headers as a whole and word by word, because a server may repeat a token without its scheme; and what an address may hold. */
function secretsOf({ url, headers }: { url: string; headers: Record<string, string> }): string[] {
  const { username, password, search, searchParams } = new URL(url);
  const words = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  return [...words, username, password, search.slice(1), ...searchParams.values()];
}
