type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A message that fails the request of this id. */
export interface LostAnswer {
  jsonrpc: '2.0';
  id: number | string;
  error: { code: number; message: string };
}

/** The code by which the MCP client knows that a connection is gone. */
const CONNECTION_CLOSED = -32_000;
const CR = '\r'.charCodeAt(0);
const LF = '\n'.charCodeAt(0);

/**
 * A fetch under which no request waits for an answer that cannot come any more: an event stream that ends or breaks off
 * ends with an error for its request. Where its events have ids the client asks for the rest of them; when that fails,
 * `lost` is told. An error that comes after the answer is of a request that nobody waits for.
 */
export function answeredFetch(inner: Fetch, lost: (message: LostAnswer) => void): Fetch {
  /** Requests whose stream broke off, and whose client asks for the rest. */
  const resuming = new Set<LostAnswer['id']>();
  const giveUp = (why: string) => {
    for (const id of resuming) lost(lostAnswer(id, why));
    resuming.clear();
  };
  return async (url, init) => {
    if (new Headers(init?.headers).has('last-event-id')) return resumed(() => inner(url, init), giveUp);
    const response = await inner(url, init);
    const id = response.ok ? requestId(init?.body) : null;
    return id === null ? response : withAnAnswer(response, id, () => resuming.add(id));
  };
}

function withAnAnswer(response: Response, id: LostAnswer['id'], resumes: () => void): Response {
  const { status, headers, body, url } = response;
  const isEventStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (status !== 202 && !(isEventStream && body)) return response;
  const mended =
    isEventStream && body
      ? new Response(answered(body, id, resumes), { status, headers })
      : Response.json(lostAnswer(id, 'took the request and closed it'));
  return Object.defineProperty(mended, 'url', { value: url });
}

async function resumed(ask: () => Promise<Response>, giveUp: (why: string) => void): Promise<Response> {
  try {
    const response = await ask();
    if (!response.ok) giveUp(`answered ${response.status} when it was asked for the rest`);
    return response;
  } catch (error) {
    giveUp('cannot be reached any more');
    throw error;
  }
}

const lostAnswer = (id: LostAnswer['id'], why: string): LostAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code: CONNECTION_CLOSED, message: `it ${why} before there was an answer` },
});

/** Of the one JSON-RPC request in a body; null where it holds none. */
function requestId(body: unknown): LostAnswer['id'] | null {
  if (typeof body !== 'string') return null;
  const { id, method } = JSON.parse(body) as { id?: LostAnswer['id']; method?: string };
  return method === undefined ? null : (id ?? null);
}

/** The stream, with an error for the request at its end; as it is where the client can ask for the rest. */
function answered(body: ReadableStream<Uint8Array>, id: LostAnswer['id'], resumes: () => void) {
  const reader = body.getReader();
  const sees = eventIdSeer();
  let resumable = false;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>, why: string, error?: unknown) => {
    if (resumable) {
      resumes();
      return error === undefined ? controller.close() : controller.error(error);
    }
    controller.enqueue(Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(lostAnswer(id, why))}\n\n`));
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) return end(controller, 'ended the stream');
        resumable ||= sees(value);
        controller.enqueue(value);
      } catch (error) {
        end(controller, 'broke off', error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Whether a line that begins with `id:` was in what it was given so far. */
function eventIdSeer(): (chunk: Uint8Array) => boolean {
  let tail = Buffer.from('\n');
  return (chunk) => {
    const bytes = Buffer.concat([tail, chunk]);
    tail = bytes.subarray(-3);
    for (let at = bytes.indexOf('id:'); at >= 0; at = bytes.indexOf('id:', at + 1)) {
      const before = bytes[at - 1];
      if (before === LF || before === CR) return true;
    }
    return false;
  };
}
