/** An MCP server over stdio whose tool `tell` says as much as a gateway may be configured to take, and whose tool `ask` is to be approved. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'talkative', version: '1.0.0' });
const said = { content: [{ type: 'text' as const, text: 'x'.repeat(1_000_000) }] };
for (const name of ['tell', 'ask']) server.registerTool(name, { description: name }, () => said);
await server.connect(new StdioServerTransport());
