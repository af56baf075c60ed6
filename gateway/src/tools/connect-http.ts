import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
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
  return connectMcp({ transport, pid: () => null, reason: () => 'closed' }, signal);
}
