/**
 * An MCP tool server that reads the machine it runs on. It only reads, and every answer is small. The gateway starts it on
 * stdio as the server `machine` of config/local/gateway.yaml; with PORT set it serves streamable HTTP on /mcp instead, as
 * a container beside an agent does.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { readDisks } from './disks.ts';
import { readLoad } from './load.ts';
import { readMemory } from './memory.ts';
import { readProcesses } from './processes.ts';
import { serveHttp } from './serve-http.ts';

const annotations = { readOnlyHint: true, openWorldHint: false };

const json = (value: object) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });

function createServer(): McpServer {
  const server = new McpServer({ name: 'machine', version: '1.0.0' });

  server.registerTool(
    'read_load',
    { description: 'Load average, CPU count and how busy the CPUs are right now.', inputSchema: {}, annotations },
    async () => json(await readLoad()),
  );

  server.registerTool(
    'read_memory',
    { description: 'Total and available memory, and swap in use.', inputSchema: {}, annotations },
    async () => json(await readMemory()),
  );

  server.registerTool(
    'read_disks',
    { description: 'How full each disk is, the fullest first.', inputSchema: {}, annotations },
    async () => json(await readDisks()),
  );

  server.registerTool(
    'list_processes',
    {
      description: 'The processes that use the most CPU or memory, by name.',
      inputSchema: {
        by: z.enum(['cpu', 'memory']).default('cpu'),
        limit: z.number().int().min(1).max(20).default(5),
      },
      annotations,
    },
    async ({ by, limit }) => json(await readProcesses({ by, limit })),
  );

  return server;
}

const port = process.env['PORT'];
if (port === undefined) await createServer().connect(new StdioServerTransport());
else await serveHttp(createServer, Number(port));
