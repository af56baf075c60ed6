import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** Serves MCP at `/mcp` of a port (0 takes a free one), without sessions; SIGTERM ends it. */
export async function serveHttp(createMcp: () => McpServer, port: number): Promise<void> {
  const server = createServer((request, response) => {
    answer(createMcp, request, response).catch((error: unknown) => {
      process.stderr.write(`machine-tools: ${String(error)}\n`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${bound}/mcp` })}\n`);
  process.once('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
  });
}

async function answer(createMcp: () => McpServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.split('?', 1)[0];
  if (path === '/health') return void response.end('ok\n');
  if (path !== '/mcp') return void response.writeHead(404).end();
  // Without sessions there is nothing to listen to and nothing to delete.
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const mcp = createMcp();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.once('close', () => void mcp.close());
  await mcp.connect(transport);
  await transport.handleRequest(request, response);
}
