import type { RunSpan } from '../observability/span.ts';

/** Of the name of a tool, with which patterns of agents and of the policy are compared. */
export const MAX_NAME_CHARS = 256;
/** Of a tool as its server lists it: what tells a pod or a model of it has 64 at most. */
export const MAX_TOOL_DEPTH = 60;
/** Of one server, and of the servers in one pod. */
export const MAX_TOOLS = 1000;
/** Of all its tools; a model could not read as much. */
export const MAX_DEFINITION_CHARS = 2 * 1024 * 1024;

/** One tool as its server describes it. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: ToolAnnotations;
}

/** The server's own hints about its tool. They are not verified. */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/**
 * The result of a call. `error` is the tool's own error result, `unavailable` a server that is down or went down,
 * `timeout` a tool that did not answer; the text is for the model in all cases.
 */
export interface ToolOutcome {
  kind: 'ok' | 'error' | 'unavailable' | 'timeout';
  text: string;
  /** The server has not read enough of what was sent before, so it got nothing of this call: that says nothing of it. */
  notSent?: true;
}

/** A call that is not sent. */
export class ServerBusy extends Error {}

export interface ToolCallOptions {
  signal: AbortSignal;
  /** Without an answer and without progress. */
  timeoutMs: number;
  /** With any progress; the default where it is absent. */
  maxTimeoutMs?: number | undefined;
  /** The model's id of the call, by which an approval was given. */
  callId?: string | undefined;
  /** The agent that calls. */
  agent?: string | undefined;
  /** The span of the run; its context is sent to the server. */
  span?: RunSpan | undefined;
}

/** An open session with one tool server. `closed` resolves once, with the reason, when it ends by itself or by `close`. */
export interface ToolConnection {
  pid: number | null;
  listTools(): Promise<ToolDefinition[]>;
  call(tool: string, input: Record<string, unknown>, options: ToolCallOptions): Promise<ToolOutcome>;
  /** Rejects when the server does not answer in time. */
  ping(timeoutMs: number): Promise<void>;
  onToolsChanged(listener: () => void): void;
  closed: Promise<string>;
  close(): Promise<void>;
}

/** Starts or dials a server and opens a session; rejects with a message for the operator. */
export type OpenConnection = (signal: AbortSignal) => Promise<ToolConnection>;
