import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyRequest } from 'fastify';
import { permits } from '../auth/caller.ts';
import { callTool, type Inject, type Tool } from './call.ts';

export interface McpDeps {
  tools: readonly Tool[];
  inject: Inject;
  version: string;
}

/** Answers one request of the Model Context Protocol. No session is kept, so that any replica may answer the next one. */
export async function answerMcp(deps: McpDeps, request: FastifyRequest): Promise<Response> {
  const server = serverFor(deps, request);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const { method, headers, body } = request;
    const asked = new Request('http://localhost/mcp', { method, headers: headersOf(headers) });
    return await transport.handleRequest(asked, { parsedBody: body });
  } finally {
    await server.close();
  }
}

function headersOf(headers: FastifyRequest['headers']): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
}

/** A token sees the tools that its role may call. */
function serverFor({ tools, inject, version }: McpDeps, { caller, headers }: FastifyRequest): Server {
  const server = new Server({ name: 'signalbox', version }, { capabilities: { tools: {} } });
  const allowed = tools.filter(({ route }) => permits(caller.role, route.role));
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: allowed.map(({ name, description, input, route }) => ({
      name,
      description,
      inputSchema: input as { type: 'object' },
      annotations: { readOnlyHint: route.method === 'GET' },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = allowed.find(({ name }) => name === params.name);
    const names = allowed.map(({ name }) => name).join(', ');
    const unknown = `there is no tool "${params.name}" for this token; it may call ${names}`;
    if (!tool) return { content: [{ type: 'text' as const, text: unknown }], isError: true };
    return callTool(inject, tool, { args: params.arguments ?? {}, authorization: headers.authorization });
  });
  return server;
}
