import { cutShort } from '@signalbox/crds';
import type { Author } from '../../definitions/tenants.ts';
import type { TraceContext } from './span.ts';

/** An expected failure of a call; `retryable` says whether the same call may work later. */
export interface Failure {
  ok: false;
  type: string;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
}

/** Characters of a message: each failed branch leaves it in its row, and twice in the log of its run. */
const MOST_CHARS = 2_000;

export const failure = (type: string, message: string, retryable = false): Failure => ({
  ok: false,
  type,
  message: cutShort(message, MOST_CHARS),
  retryable,
});

/** One call of an agent. Times in milliseconds. */
export interface AgentCall {
  agent: string;
  model?: string;
  input: string;
  outputSchema: Record<string, unknown>;
  idempotencyKey: string;
  timeoutMs: number;
  runId: string;
  pipeline: string;
  stepName: string;
  team: string | null;
  /** The namespace that the run counts towards; null for none. */
  namespace: string | null;
  signal: AbortSignal;
  /** W3C trace context of the call; absent where nothing is traced. */
  trace?: TraceContext;
  onEvent(event: string, fields: Record<string, unknown>): void;
  /** The agent wants to call a tool that a person must allow; absent where approvals are not possible. */
  onApproval?(request: ToolRequest): Promise<ToolDecision>;
}

export interface ToolRequest {
  /** The backend's own names of the run and of the call: the same when it asks again. */
  backendRunId: string;
  callId: string;
  agent: string;
  server: string;
  tool: string;
  input: unknown;
  reason: string | null;
}

export interface ToolDecision {
  approved: boolean;
  /** Of the input that was decided about. */
  inputSha256: string;
  decidedBy: string | null;
  comment: string | null;
}

/** Tokens that a model used; the cached ones are among the input tokens, null where nobody says. */
export interface TokenUse {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number | null;
}
export type ModelUse = TokenUse & { provider: string | null; model: string | null };

/** What a call of an agent used, as its backend says; null where it does not say. */
export interface AgentSpent {
  model: string | null;
  provider: string | null;
  agentVersion: string | null;
  usage: TokenUse | null;
  /** Where more than one model used tokens. */
  usageByModel?: ModelUse[];
  /** How long the backend says it took. */
  durationMs: number | null;
  iterations: number;
  toolCalls: number;
  trace: unknown[];
  /** Entries of the trace, or what some of them said, are left out. */
  traceCut?: boolean;
  /** What was wrong beside the answer, one sentence each. */
  warnings: string[];
}

export interface AgentReply extends AgentSpent {
  ok: true;
  text: string;
  /** The JSON object in the answer, where the backend found one. */
  output: Record<string, unknown> | null;
  stopReason: string | null;
}

/** A call that failed has spent tokens all the same; absent where the backend says nothing of it. */
export type AgentFailure = Failure & { spent?: AgentSpent };

export interface ListedAgent {
  name: string;
  model: string | null;
  /** Of its prompt and configuration, where the backend says so. */
  version?: string;
  /** What keeps it from answering, where the backend says so. */
  warnings?: string[];
}

/** Something that runs agents: the gateway, or any other backend that speaks `/rpc`. */
export interface AgentBackend {
  readonly name: 'gateway' | 'external';
  run(call: AgentCall): Promise<AgentReply | AgentFailure>;
  list(signal: AbortSignal): Promise<{ ok: true; agents: ListedAgent[] } | Failure>;
  /** Of which runs this service answers tool approvals; null where the backend does not say. */
  approvals(signal: AbortSignal): Promise<'all' | 'own' | 'none' | null>;
  close(): void;
}

/** A request of a webhook step, rendered. */
export interface HttpCall {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
}

export interface HttpReply {
  ok: true;
  status: number;
  headers: Record<string, string>;
  /** At most `MAX_RESPONSE_BYTES`, cut. */
  body: string;
}

export type HttpExecutor = (call: HttpCall) => Promise<HttpReply | Failure>;

/** Calls a URL that the author of a run wrote, within the egress rules of that run. */
export type AuthorHttp = (call: HttpCall & Author) => Promise<HttpReply | Failure>;
