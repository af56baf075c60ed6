import type { HttpExecutor } from '../runs/state/executor.ts';
import type { TriedRequest } from '../runs/state/step-parts.ts';

/** One try to deliver a message; `at` in milliseconds since the epoch. */
export interface Tried {
  at: number;
  /** Null where it was delivered. */
  error: string | null;
  /** Null where nothing was sent. */
  request: TriedRequest | null;
}

/** Tries of a message that are kept, the last ones. */
export const MOST_TRIES = 20;

/** The host of an address: what follows may be the secret itself, as in the addresses of chats. */
function hostOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return '***';
  const rest = parsed.pathname === '/' && parsed.search === '' ? '/' : '/***';
  return `${parsed.origin}${rest}`;
}

/** Calls as `http` does, and notes the last call. */
export function noting(http: HttpExecutor, note: (request: TriedRequest) => void): HttpExecutor {
  return async (call) => {
    const request = { method: call.method, url: hostOf(call.url), status: null };
    note(request);
    const reply = await http(call);
    if (reply.ok) note({ ...request, status: reply.status });
    return reply;
  };
}
