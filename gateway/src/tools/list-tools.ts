import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { nestsDeeper } from '@signalbox/crds';
import { z } from 'zod';
import { MAX_DEFINITION_CHARS, MAX_NAME_CHARS, MAX_TOOL_DEPTH, MAX_TOOLS, type ToolDefinition } from './tool.ts';

const MAX_PAGES = 50;
const TOO_MANY = `offers more than ${MAX_TOOLS} tools`;

/** Looked at one by one, and none further than to its first problem: of 50,000 that are none, the problems alone would be 20 MB. */
const Page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const Hint = z.boolean().optional();
const Tool = z.object({
  name: z.string(),
  description: z.string().default(''),
  inputSchema: z.custom<Record<string, unknown>>(isInputSchema, 'must be a schema of an object'),
  annotations: z
    .object({
      title: z.string().optional(),
      readOnlyHint: Hint,
      destructiveHint: Hint,
      idempotentHint: Hint,
      openWorldHint: Hint,
    })
    .default({}),
});

/** The tools that a server lists, each once: providers refuse a tool that is offered twice. Rejects where a limit is exceeded. */
export async function listTools(client: Client, timeoutMs: number): Promise<ToolDefinition[]> {
  const tools = new Map<string, ToolDefinition>();
  for await (const page of pages(client, timeoutMs)) {
    const deep = page.find((tool) => nestsDeeper(tool, MAX_TOOL_DEPTH));
    if (deep)
      throw new Error(
        `has a tool that nests deeper than ${MAX_TOOL_DEPTH} levels: ${deep.name.slice(0, MAX_NAME_CHARS)}`,
      );
    for (const tool of page) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    if (page.some(({ name }) => name.length > MAX_NAME_CHARS))
      throw new Error(`has a tool whose name is longer than ${MAX_NAME_CHARS} characters`);
    if (tools.size > MAX_TOOLS) throw new Error(TOO_MANY);
  }
  return [...tools.values()];
}

async function* pages(client: Client, timeout: number): AsyncGenerator<ToolDefinition[]> {
  if (!client.getServerCapabilities()?.tools) return;
  let cursor: string | undefined;
  let chars = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: 'tools/list', params }, ResultSchema, { timeout });
    // With all that is left out below: a server may say that its tools changed, and be asked again, without end.
    chars += JSON.stringify(result).length;
    if (chars > MAX_DEFINITION_CHARS)
      throw new Error(`describes its tools in more than ${MAX_DEFINITION_CHARS} characters`);
    const { tools, nextCursor } = Page.parse(result);
    if (tools.length > MAX_TOOLS) throw new Error(TOO_MANY);
    yield tools.map((tool) => Tool.parse(tool));
    cursor = nextCursor;
    if (cursor === undefined) return;
  }
  throw new Error(`lists its tools on more than ${MAX_PAGES} pages`);
}

/** As the protocol has it. */
function isInputSchema(value: unknown): boolean {
  if (!isObject(value) || value['type'] !== 'object') return false;
  const { properties = {}, required = [] } = value;
  if (!isObject(properties) || Array.isArray(properties) || !Array.isArray(required)) return false;
  return Object.values(properties).every(isObject) && required.every((name) => typeof name === 'string');
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
