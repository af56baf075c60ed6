type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A fetch whose answer breaks off after `maxBytes`: of the whole body, or of one event in an event stream. */
export function boundedFetch(inner: Fetch, maxBytes: number): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    if (!response.body) return response;
    const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const bounded = new Response(response.body.pipeThrough(byteLimit(maxBytes, isEventStream)), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };
}

function byteLimit(maxBytes: number, perEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const eventEnd = perEvent ? lastBlankLine(chunk) : -1;
      seen = eventEnd < 0 ? seen + chunk.length : chunk.length - eventEnd;
      if (seen > maxBytes || chunk.length > maxBytes)
        controller.error(new Error(`the tool server sent more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** Offset after the last blank line of a chunk, or -1. */
function lastBlankLine(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'));
}
