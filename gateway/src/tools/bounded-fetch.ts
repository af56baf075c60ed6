import { createFloodGuard, FLOOD_LIMITS } from './flood-guard.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const LF = 10;
/** Lines of one event stream. Comments and empty lines count too: they take time to read. */
const STREAM_LIMITS = { ...FLOOD_LIMITS, maxMessages: 200_000 };

/**
 * A fetch whose answer fails after `maxBytes`: of the whole body, or of one event in an event stream. `onFlood` is called for a
 * stream that exceeds this or another limit.
 */
export function boundedFetch(inner: Fetch, maxBytes: number, onFlood: (reason: string) => void): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    if (!response.body) return response;
    const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const limit = isEventStream ? eventLimit(maxBytes, onFlood) : byteLimit(maxBytes);
    const bounded = new Response(response.body.pipeThrough(limit), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };
}

const tooMuch = (maxBytes: number) => new Error(`the tool server sent more than ${maxBytes} bytes`);

function byteLimit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.length;
      if (seen > maxBytes) controller.error(tooMuch(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

function eventLimit(maxBytes: number, onFlood: (reason: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const withinLimits = createFloodGuard(STREAM_LIMITS, () => performance.now());
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const eventEnd = lastBlankLine(chunk);
      seen = eventEnd < 0 ? seen + chunk.length : chunk.length - eventEnd;
      const problem =
        Math.max(seen, chunk.length) > maxBytes
          ? `sent an event of more than ${maxBytes} bytes`
          : withinLimits(chunk.length, linesIn(chunk))
            ? null
            : 'flooded its output';
      if (problem === null) return controller.enqueue(chunk);
      controller.error(new Error(`the tool server ${problem}`));
      onFlood(problem);
    },
  });
}

/** Offset after the last blank line of a chunk, or -1. */
function lastBlankLine(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'));
}

function linesIn(chunk: Uint8Array): number {
  let lines = 0;
  for (const byte of chunk) if (byte === LF) lines += 1;
  return lines;
}
