import { APICallError } from '@ai-sdk/provider';

/** Why a model call failed, told without what was sent: no header, key or body. */
export interface ModelFailure {
  message: string;
  /** The same call may succeed later (429, 5xx, a broken connection, an unreadable answer). */
  retryable: boolean;
  status: number | null;
  /** What the provider asked to wait, at most a minute. */
  retryAfterMs: number | null;
}

/** An answer that began well and cannot be used. */
export class BrokenAnswer extends Error {
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean) {
    super(message);
    this.name = 'BrokenAnswer';
    this.retryable = retryable;
  }
}

const MAX_MESSAGE_CHARS = 300;
const MAX_RETRY_AFTER_MS = 60_000;

/** Reads what a provider rejected with. */
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
  const retryable = error instanceof BrokenAnswer && error.retryable;
  const message = error instanceof Error ? error.message : 'the model call failed';
  return { message: brief(message), retryable, status: null, retryAfterMs: null };
}

/** A 2xx comes here when its body is no answer (a proxy in between): worth another try. */
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
