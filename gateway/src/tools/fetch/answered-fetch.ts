import { setImmediate } from 'node:timers/promises';
import { asksForEvents, EVENT_STREAM, transformUntil } from '../bounded-fetch.ts';
import { createEventIds, MAX_ID_BYTES } from './event-ids.ts';

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
  /** Called for a stream that cannot be read on. */
  onFlood: (reason: string) => void;
  acceptMs?: number;
}

/** The MCP client's error code for a closed connection. */
const CONNECTION_CLOSED = -32_000;
const NO_STREAM = 405;
/** How long a server may take to accept a message that has no answer. */
const ACCEPT_MS = 10_000;
const MAX_REMEMBERED = 1000;
/** Streams that the server has for itself. A client needs one. */
const MAX_OWN = 4;

/** A stream that the client may ask for the rest of: of an answer, or the server's own. */
interface Resumable {
  request: RequestId | null;
  /** The server's id of its last event. */
  last: string;
}

/**
 * A fetch that fails requests whose answer can no longer arrive, and closes connections of abandoned requests: an event stream
 * that ends early gets an error message for its request. Where its events have ids the client asks for the rest of them; when
 * that fails, `lost` is called. An error after the answer is ignored, because its request is complete.
 * The client sees no id of the server, which it would keep while it waits, but one of ours for each stream and its rests.
 */
export function createAnsweredFetch(deps: AnsweredFetchDeps): { fetch: Fetch; giveUpUnawaited: () => void } {
  /** What is open for each request. */
  const open = new Map<RequestId, AbortController>();
  /** By our ids. */
  const resumable = new Map<string, Resumable>();
  let streams = 0;
  let own = 0;
  const remember = (stream: Resumable): string => {
    const ours = String((streams += 1));
    resumable.set(ours, stream);
    const [oldest] = resumable.keys();
    if (resumable.size > MAX_REMEMBERED && oldest !== undefined) resumable.delete(oldest);
    return ours;
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
    if (!deps.isAwaited(id)) throw new Error('nobody waits for its answer any more');
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
    if (!deps.isAwaited(id)) return noStream();
    const failed = (why: string) => deps.lost(lostAnswer(id, why));
    try {
      const { response, over } = await connect(id, (signal) => ask(url, { ...init, signal }), init.signal ?? null);
      if (response.ok && isEventStream(response)) return answered(response, id, over, eventIdOf(init));
      over();
      failed(`answered ${response.status} when it was asked for the rest`);
      return response;
    } catch (error) {
      failed('cannot be reached any more');
      throw error;
    }
  }

  async function listened(url: string | URL, init: RequestInit): Promise<Response> {
    if (own >= MAX_OWN) return noStream();
    own += 1;
    let isOver = false;
    const over = () => {
      if (!isOver) own -= 1;
      isOver = true;
    };
    try {
      const response = await ask(url, init);
      if (response.ok && isEventStream(response)) return answered(response, null, over, eventIdOf(init));
      return whenRead(response, over);
    } catch (error) {
      over();
      throw error;
    }
  }

  /** Asks the server for events, after the one with its own id. */
  function ask(url: string | URL, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const stream = resumable.get(eventIdOf(init) ?? '');
    if (stream) headers.set('last-event-id', stream.last);
    return deps.inner(url, { ...init, headers });
  }

  function events(url: string | URL, init: RequestInit): Promise<Response> {
    const ours = eventIdOf(init);
    const stream = ours === null ? { request: null } : resumable.get(ours);
    if (!stream) return Promise.resolve(noStream());
    return stream.request === null ? listened(url, init) : resumed(stream.request, url, init);
  }

  /**
   * The stream, with an error for the request at its end; as it is where the client can ask for the rest. `ours` is known where this
   * is the rest of another one.
   */
  function answered(response: Response, request: RequestId | null, over: () => void, ours: string | null = null) {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let known = ours;
    const filter = createEventIds({
      onId: (last) => {
        const stream = known === null ? undefined : resumable.get(known);
        if (stream) stream.last = last;
        if (known !== null) return '';
        known = remember({ request, last });
        return eventWith(known);
      },
      onTooLong: () => deps.onFlood(`sent an id of an event, or a time to wait, of more than ${MAX_ID_BYTES} bytes`),
    });
    const end = async (controller: ReadableStreamDefaultController<Uint8Array>, why: string, error?: unknown) => {
      over();
      // The client may not have read the received events yet.
      await setImmediate();
      if (error !== undefined && (known !== null || request === null)) return controller.error(error);
      if (known === null && request !== null && deps.isAwaited(request))
        controller.enqueue(Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(lostAnswer(request, why))}\n\n`));
      controller.close();
    };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        if (ours !== null) controller.enqueue(Buffer.from(eventWith(ours)));
      },
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) return await end(controller, 'ended the stream');
          controller.enqueue(filter(value));
        } catch (error) {
          await end(controller, 'broke off', error);
        }
      },
      cancel: (reason) => {
        over();
        return reader.cancel(reason);
      },
    });
    return like(response, body);
  }

  return {
    fetch: (url, init = {}) => {
      if (asksForEvents(init)) return events(url, init);
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
      for (const [ours, { request }] of resumable)
        if (request !== null && !deps.isAwaited(request)) resumable.delete(ours);
    },
  };
}

/** The response; `over` is called when its body was read or cancelled. */
function whenRead(response: Response, over: () => void): Response {
  if (!response.body) {
    over();
    return response;
  }
  return like(response, response.body.pipeThrough(transformUntil({}, over)));
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

/** What the client remembers of a stream, without a message. */
const eventWith = (ours: string): string => `id: ${ours}\ndata:\n\n`;

const noStream = (): Response => new Response(null, { status: NO_STREAM });

const eventIdOf = ({ headers }: RequestInit) => new Headers(headers).get('last-event-id');

/** Of the one JSON-RPC request in a body; null where it holds none. */
function requestId(body: unknown): RequestId | null {
  if (typeof body !== 'string') return null;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? null : (id ?? null);
}
