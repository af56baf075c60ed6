import type { Agent, fetch as UndiciFetch, Response as UndiciResponse } from 'undici';
import { type AnswerRoom, roomOf } from './answer-room.ts';
import { boundValues } from './bound-values.ts';

type Client = { fetch: typeof UndiciFetch; dispatcher: Agent };
type UndiciInit = Parameters<typeof UndiciFetch>[1];

/** Error codes of a kept connection that the provider closed while it was idle. */
const STALE = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * The `fetch` of all providers. Time is bounded by the caller's signal alone; a response by the room that is open for that signal, 16 KiB of headers and its values.
 * Redirects are not followed, so a key goes to the configured address only.
 */
export function createProviderFetch(): typeof fetch {
  let client: Promise<Client> | undefined;
  const providerFetch = async (input: string, init?: UndiciInit) => {
    const room = roomOf(init?.signal);
    if (!room) throw new Error('no room is open for the answer');
    room.isSent = true;
    const { fetch, dispatcher } = await (client ??= openClient());
    const headers = new Headers(init?.headers as HeadersInit);
    headers.set('accept-encoding', 'identity');
    const ask = () => fetch(input, { ...init, headers: [...headers], dispatcher, redirect: 'manual' });
    const response = await ask().catch((error: unknown) => {
      if (!isStale(error) || init?.signal?.aborted) throw error;
      return ask();
    });
    // The limit counts bytes as they are sent, so a compressed body would have none.
    if ((response.headers.get('content-encoding') ?? 'identity') === 'identity') return bounded(response, room);
    await response.body?.cancel();
    throw new TypeError('fetch failed', { cause: new Error('the provider compressed its answer unasked') });
  };
  return providerFetch as unknown as typeof fetch;
}

/** An answer that failed is read as a whole. */
function bounded(response: UndiciResponse, room: AnswerRoom): Response | UndiciResponse {
  const { body, status, statusText, headers, url } = response;
  if (!body) return response;
  // The types of Node and of the package differ in what they call a stream.
  const counted = new Response(
    (body as unknown as ReadableStream<Uint8Array>).pipeThrough(boundValues(room, response.ok && room.isStreamed)),
    {
      status,
      statusText,
      headers: [...headers],
    },
  );
  return Object.defineProperty(counted, 'url', { value: url });
}

/** Loaded with the first request. */
async function openClient(): Promise<Client> {
  const { Agent, fetch } = await import('undici');
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
  return {
    fetch,
    dispatcher: new Agent({ ...timeouts, allowH2: false, pipelining: 1 }),
  };
}

function isStale(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && STALE.has(String(cause.code));
}
