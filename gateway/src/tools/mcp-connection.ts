import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { resultText } from './result-text.ts';
import type { ToolCallOptions, ToolConnection, ToolDefinition, ToolOutcome } from './tool.ts';

interface McpTransport {
  transport: Transport;
  pid: () => number | null;
  /** Why it closed. */
  reason: () => string;
}

const HANDSHAKE_TIMEOUT_MS = 30_000;
const MAX_TOOLS = 1000;
const MAX_PAGES = 50;

/** Shakes hands over a transport and offers the session as a `ToolConnection`. The transport is closed when that fails. */
export async function connectMcp(
  { transport, pid, reason }: McpTransport,
  signal: AbortSignal,
): Promise<ToolConnection> {
  const client = new Client({ name: 'signalbox-gateway', version: '1' });
  const closed = new Promise<string>((resolve) => {
    client.onclose = () => resolve(reason());
  });
  client.onerror = () => {
    // Broken lines and late answers arrive here; the transport decides about ending the session.
  };
  try {
    await client.connect(transport, { signal, timeout: HANDSHAKE_TIMEOUT_MS });
  } catch (error) {
    await transport.close();
    throw new Error(reason() === 'closed' ? messageOf(error) : reason(), { cause: error });
  }
  return {
    pid: pid(),
    closed,
    listTools: () => listTools(client),
    call: (tool, input, options) => callTool(client, { tool, input }, options),
    ping: async (timeoutMs) => {
      await client.ping({ timeout: timeoutMs }).catch((error: unknown) => {
        if (
          !(error instanceof McpError) ||
          error.code === ErrorCode.RequestTimeout ||
          error.code === ErrorCode.ConnectionClosed
        )
          throw error;
      });
    },
    onToolsChanged: (listener) => client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
    close: () => transport.close(),
  };
}

async function listTools(client: Client): Promise<ToolDefinition[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: ToolDefinition[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      ListToolsResultSchema,
      {
        timeout: HANDSHAKE_TIMEOUT_MS,
      },
    );
    for (const { name, description, inputSchema, annotations } of result.tools) {
      tools.push({ name, description: description ?? '', inputSchema, annotations: annotations ?? {} });
    }
    if (tools.length > MAX_TOOLS) throw new Error(`offers more than ${MAX_TOOLS} tools`);
    cursor = result.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`lists its tools on more than ${MAX_PAGES} pages`);
}

async function callTool(
  client: Client,
  { tool, input }: { tool: string; input: Record<string, unknown> },
  { signal, timeoutMs, span }: ToolCallOptions,
): Promise<ToolOutcome> {
  const context = span?.context ? { _meta: span.context } : {};
  try {
    const result = await client.request(
      { method: 'tools/call', params: { name: tool, arguments: input, ...context } },
      CallToolResultSchema,
      {
        signal,
        timeout: timeoutMs,
      },
    );
    return { kind: result.isError ? 'error' : 'ok', text: resultText(result) };
  } catch (error) {
    return failedCall(error, timeoutMs);
  }
}

function failedCall(error: unknown, timeoutMs: number): ToolOutcome {
  const code = error instanceof McpError ? error.code : null;
  if (code === ErrorCode.RequestTimeout)
    return { kind: 'timeout', text: `the tool did not answer within ${timeoutMs / 1000} s` };
  if (code === null || code === ErrorCode.ConnectionClosed)
    return { kind: 'unavailable', text: `the tool server failed: ${messageOf(error)}` };
  return { kind: 'error', text: messageOf(error) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : 'failed';
}
