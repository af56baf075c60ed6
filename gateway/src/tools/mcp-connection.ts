import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { longestOf, openCallSignal } from './call-limits.ts';
import { listTools } from './list-tools.ts';
import { CallResult, resultText } from './result-text.ts';
import { ServerBusy, type ToolCallOptions, type ToolConnection, type ToolOutcome } from './tool.ts';
import { withoutLeaks } from './without-leaks.ts';

interface McpTransport {
  transport: Transport;
  pid: () => number | null;
  /** Why it closed. */
  reason: () => string;
  /** Replaces the operator's secrets in error messages of the server. */
  conceal: (text: string) => string;
}

const HANDSHAKE_TIMEOUT_MS = 30_000;
const MAX_ERROR_CHARS = 500;

/** Opens an MCP session over a transport. The transport is closed when that fails. */
export async function connectMcp(
  { transport, pid, reason, conceal }: McpTransport,
  signal: AbortSignal,
): Promise<ToolConnection> {
  const client = new Client({ name: 'signalbox-gateway', version: '1' });
  const messageOf = (error: unknown) => cut(error instanceof Error ? conceal(error.message) : 'failed');
  const closed = new Promise<string>((resolve) => {
    client.onclose = () => resolve(conceal(reason()));
  });
  client.onerror = () => {
    // Broken lines and late answers arrive here; the transport decides about ending the session.
  };
  try {
    await client.connect(withoutLeaks(transport), { signal, timeout: HANDSHAKE_TIMEOUT_MS });
  } catch (error) {
    await transport.close();
    throw new Error(reason() === 'closed' ? messageOf(error) : conceal(reason()), { cause: error });
  }
  return {
    pid: pid(),
    closed,
    listTools: () =>
      listTools(client, HANDSHAKE_TIMEOUT_MS).catch((error: unknown) => {
        throw new Error(messageOf(error), { cause: error });
      }),
    call: async (tool, input, options) => {
      const { timeoutMs, maxTimeoutMs = longestOf(timeoutMs) } = options;
      const { signal, isOver, release } = openCallSignal(options.signal, maxTimeoutMs);
      try {
        return await callTool(client, { tool, input }, { ...options, signal });
      } catch (error) {
        return failedCall(error, messageOf(error), isOver() ? maxTimeoutMs : timeoutMs);
      } finally {
        release();
      }
    },
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

/** In memory of its own: a slice would keep all megabytes of the message. */
const cut = (message: string): string => Buffer.from(message.slice(0, MAX_ERROR_CHARS)).toString();

async function callTool(
  client: Client,
  { tool, input }: { tool: string; input: Record<string, unknown> },
  { signal, timeoutMs, span }: ToolCallOptions,
): Promise<ToolOutcome> {
  const context = span?.context ? { _meta: span.context } : {};
  const result = await client.request(
    { method: 'tools/call', params: { name: tool, arguments: input, ...context } },
    CallResult,
    // With the token that this callback asks for, the server may report progress.
    { signal, timeout: timeoutMs, resetTimeoutOnProgress: true, onprogress: () => {} },
  );
  return { kind: result.isError ? 'error' : 'ok', text: resultText(result) };
}

function failedCall(error: unknown, message: string, timeoutMs: number): ToolOutcome {
  if (error instanceof ServerBusy) return { kind: 'unavailable', text: message, notSent: true };
  const code = error instanceof McpError ? error.code : null;
  if (code === ErrorCode.RequestTimeout)
    return { kind: 'timeout', text: `the tool did not answer within ${timeoutMs / 1000} s` };
  if (code === null || code === ErrorCode.ConnectionClosed)
    return { kind: 'unavailable', text: `the tool server failed: ${message}` };
  return { kind: 'error', text: message };
}
