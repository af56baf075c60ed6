import { setImmediate } from 'node:timers/promises';
import { EVENT_STREAM } from '../bounded-fetch.ts';
import { createEventIdReader } from './event-ids.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
type RequestId = number | string;

/** A message that fails the request of this id. */
export interface LostAnswer {
  jsonrpc: '2.0';
  id: RequestId;
  error: { code: number; message: string };
}

export interface AnsweredFetchDeps {
  inner: Fetch;
  /** Whether the client still waits for the answer to this request. */
  isAwaited: (id: RequestId) => boolean;
  /** Called where no stream is left to deliver the error on. */
  lost: (message: LostAnswer) => void;
  acceptMs?: number;
}

/** The MCP client's error code for a closed connection. */
const CONNECTION_CLOSED = -32_000;
const NO_STREAM = 405;
/** How long a server may take to accept a message that has no answer. */
const ACCEPT_MS = 10_000;
const MAX_REMEMBERED = 1000;

/**
 * A fetch that fails requests whose answer can no longer arrive, and closes connections of abandoned requests: an event stream
 * that ends early gets an error message for its request. Where its events have ids the client asks for the rest of them; when
 * that fails, `lost` is called. An error after the answer is ignored, because its request is complete.
 */
export function createAnsweredFetch(deps: AnsweredFetchDeps): { fetch: Fetch; giveUpUnawaited: () => void } {
  /** What is open for each request. */
  const open = new Map<RequestId, AbortController>();
  /** By the last event of a stream that ended: the request whose rest the client may ask for. */
  const resuming = new Map<string, RequestId>();
  const remember = (last: string, id: RequestId) => {
    resuming.set(last, id);
    const [oldest] = resuming.keys();
    if (resuming.size > MAX_REMEMBERED && oldest !== undefined) resuming.delete(oldest);
  };

  async function connect(id: RequestId, ask: (signal: AbortSignal) => Promise<Response>, signal: AbortSignal | null) {
    const abort = new AbortController();
    open.set(id, abort);
    const over = () => {
      if (open.get(id) === abort) open.delete(id);
    };
    try {
      const response = await ask(signal ? AbortSignal.any([signal, abort.signal]) : abort.signal);
      return { response, over };
    } catch (error) {
      over();
      throw error;
    }
  }

  async function asked(id: RequestId, url: string | URL, init: RequestInit): Promise<Response> {
    const { response, over } = await connect(id, (signal) => deps.inner(url, { ...init, signal }), init.signal ?? null);
    if (!response.ok) return whenRead(response, over);
    if (response.status === 202) {
      await response.body?.cancel();
      over();
      return Response.json(lostAnswer(id, 'took the request and closed it'));
    }
    return isEventStream(response) ? answered(response, id, over) : whenRead(response, over);
  }

  function told(url: string | URL, init: RequestInit): Promise<Response> {
    const late = AbortSignal.timeout(deps.acceptMs ?? ACCEPT_MS);
    return deps.inner(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, late]) : late });
  }

  async function resumed(id: RequestId, url: string | URL, init: RequestInit): Promise<Response> {
    // The answer of a server without further events, so that the client does not ask again.
    if (!deps.isAwaited(id)) return new Response(null, { status: NO_STREAM });
    const failed = (why: string) => deps.lost(lostAnswer(id, why));
    try {
      const { response, over } = await connect(
        id,
        (signal) => deps.inner(url, { ...init, signal }),
        init.signal ?? null,
      );
      if (response.ok && isEventStream(response)) return answered(response, id, over, eventIdOf(init));
      over();
      failed(`answered ${response.status} when it was asked for the rest`);
      return response;
    } catch (error) {
      failed('cannot be reached any more');
      throw error;
    }
  }

  /** The stream, with an error for the request at its end; as it is where the client can ask for the rest. */
  function answered(response: Response, id: RequestId, over: () => void, from: string | null = null): Response {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const readId = createEventIdReader();
    let last = from;
    const end = async (controller: ReadableStreamDefaultController<Uint8Array>, why: string, error?: unknown) => {
      over();
      // The client may not have read the received events yet.
      await setImmediate();
      if (last !== null) {
        remember(last, id);
        if (error !== undefined) return controller.error(error);
      } else if (deps.isAwaited(id)) {
        controller.enqueue(Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(lostAnswer(id, why))}\n\n`));
      }
      controller.close();
    };
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) return await end(controller, 'ended the stream');
          last = readId(value) ?? last;
          controller.enqueue(value);
        } catch (error) {
          await end(controller, 'broke off', error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return like(response, body);
  }

  return {
    fetch: (url, init = {}) => {
      const last = eventIdOf(init);
      const rest = last === null ? undefined : resuming.get(last);
      if (rest !== undefined) return resumed(rest, url, init);
      const id = requestId(init.body);
      if (id !== null) return asked(id, url, init);
      return typeof init.body === 'string' ? told(url, init) : deps.inner(url, init);
    },
    giveUpUnawaited: () => {
      for (const [id, abort] of open) {
        if (deps.isAwaited(id)) continue;
        open.delete(id);
        abort.abort();
      }
    },
  };
}

/** The response; `over` is called when its body was read or cancelled. */
function whenRead(response: Response, over: () => void): Response {
  if (!response.body) {
    over();
    return response;
  }
  return like(response, response.body.pipeThrough(new TransformStream({ flush: over })));
}

function like({ status, statusText, headers, url }: Response, body: ReadableStream<Uint8Array>): Response {
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}

const lostAnswer = (id: RequestId, why: string): LostAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code: CONNECTION_CLOSED, message: `it ${why} before there was an answer` },
});

function isEventStream({ headers, body }: Response): boolean {
  return body !== null && headers.get('content-type') === EVENT_STREAM;
}

const eventIdOf = ({ headers }: RequestInit) => new Headers(headers).get('last-event-id');

/** Of the one JSON-RPC request in a body; null where it holds none. */
function requestId(body: unknown): RequestId | null {
  if (typeof body !== 'string') return null;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? null : (id ?? null);
}
