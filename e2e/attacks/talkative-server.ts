/**
 * An MCP server over stdio whose tool `tell` says as much as a gateway may be configured to take, `list` as many objects as a model
 * may put into a call, `note` next to nothing, and whose tool `ask` is to be approved.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'talkative', version: '1.0.0' });
const LONG = 'x'.repeat(1_000_000);
const said = { tell: LONG, ask: LONG, list: `{"list":[${'{},'.repeat(24_000)}1]}`, note: 'noted' };
for (const [name, text] of Object.entries(said))
  server.registerTool(name, { description: name }, () => ({ content: [{ type: 'text', text }] }));
await server.connect(new StdioServerTransport());
