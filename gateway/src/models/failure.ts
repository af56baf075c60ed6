import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import type { ModelReply, ModelUsage } from './model.ts';

/** Why a model call failed. Contains nothing of the request: no header, key or body. */
export interface ModelFailure {
  message: string;
  /** The same call may succeed later (429, 5xx, a broken connection, an unreadable answer). */
  retryable: boolean;
  status: number | null;
  /** The wait that the provider asked for, at most a minute. */
  retryAfterMs: number | null;
  /** What the answer that cannot be used has cost. */
  usage?: ModelUsage;
}

/** An answer with a good status that cannot be used. */
export class BrokenAnswer extends Error {
  readonly retryable: boolean;
  readonly usage: ModelUsage | undefined;

  constructor(message: string, retryable: boolean, usage?: ModelUsage) {
    super(message);
    this.name = 'BrokenAnswer';
    this.retryable = retryable;
    this.usage = usage;
  }
}

/** The SDK failed before it sent anything, so that the call stays as wrong as it is and says nothing of the model. */
export class UnwritableRequest extends Error {
  constructor(cause: unknown) {
    super(`the request cannot be written: ${cause instanceof Error ? cause.message : 'failed'}`);
    this.name = 'UnwritableRequest';
  }
}

/** The errors of an SDK for an answer, or a part of a stream, that it cannot read. */
const UNREADABLE = [EmptyResponseBodyError, InvalidResponseDataError, JSONParseError, TypeValidationError];

/** Rejects an answer that is incomplete by its finish reason. */
export function requireWhole({ finish, usage }: Pick<ModelReply, 'finish' | 'usage'>): void {
  if (finish === '' || finish === 'interrupted')
    throw new BrokenAnswer('the stream ended before the answer did', true, usage);
  if (finish === 'error') throw new BrokenAnswer('the provider ended its answer with an error', true, usage);
}

/** The error that a provider reports within a stream, as an error or as an object of its own. */
export function reportedError(error: unknown): Error {
  if (error instanceof Error) return error;
  const reported: { message?: unknown; statusCode?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  const message = typeof error === 'string' ? error : reported.message;
  const text = typeof message === 'string' && message !== '' ? message : 'the provider reported an error';
  return new BrokenAnswer(text, typeof reported.statusCode !== 'number' || retryableStatus(reported.statusCode));
}

const MAX_MESSAGE_CHARS = 300;
const MAX_RETRY_AFTER_MS = 60_000;

/** Rejects an answer that ends with tool calls and has none, or has one without a name. */
export function requireNamedCalls({ content, finish, usage }: Pick<ModelReply, 'content' | 'finish' | 'usage'>): void {
  const calls = content.filter((part) => part.type === 'tool-call');
  const isMissing = finish === 'tool-calls' && calls.length === 0;
  if (isMissing || calls.some(({ toolName }) => toolName === ''))
    throw new BrokenAnswer('the provider ended its answer with a tool call and named no tool', true, usage);
}

/** Describes the error that a call of a provider rejected with. */
export function describeFailure(error: unknown): ModelFailure {
  if (APICallError.isInstance(error)) {
    const status = error.statusCode ?? null;
    return {
      message: brief(status === null ? error.message : `${status}: ${error.message}`),
      retryable: status === null ? error.isRetryable : retryableStatus(status),
      status,
      retryAfterMs: retryAfter(error.responseHeaders),
    };
  }
  if (UNREADABLE.some((kind) => kind.isInstance(error)))
    return { message: 'the provider sent what cannot be read', retryable: true, status: null, retryAfterMs: null };
  if (error instanceof UnwritableRequest)
    return { message: brief(error.message), retryable: false, status: null, retryAfterMs: null };
  return describeAnswer(error);
}

function describeAnswer(error: unknown): ModelFailure {
  // An AISDKError is about the request, which stays wrong; any other error is about the answer.
  const retryable = error instanceof BrokenAnswer ? error.retryable : !AISDKError.isInstance(error);
  const message = error instanceof Error ? error.message : 'the model call failed';
  const usage = error instanceof BrokenAnswer ? error.usage : undefined;
  return { message: brief(message), retryable, status: null, retryAfterMs: null, ...(usage && { usage }) };
}

/** A 2xx is retried: its body was not an answer, for example the page of a proxy. */
function retryableStatus(status: number): boolean {
  return status < 300 || status === 408 || status === 429 || status >= 500;
}

function retryAfter(headers: Record<string, string> | undefined): number | null {
  const ms = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  const wait = Number.isFinite(ms) ? ms : seconds * 1000;
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : null;
}

function brief(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line;
}
