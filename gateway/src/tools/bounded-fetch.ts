import { mediaTypeEssence } from '@modelcontextprotocol/sdk/shared/mediaType.js';
import { createPieces } from '@signalbox/crds/process/rest';
import { createCounter } from '../models/bound-values.ts';
import { createEventIdReader, MAX_ID_BYTES } from './fetch/event-ids.ts';
import { createFloodGuard, FLOOD_LIMITS } from './flood-guard.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export const EVENT_STREAM = 'text/event-stream';
const LF = 10;
const CR = 13;
/** Lines of one event stream. Comments and empty lines count too: they take time to read. */
const STREAM_LIMITS = { ...FLOOD_LIMITS, maxMessages: 200_000 };

/**
 * A fetch whose answer fails after `maxBytes`: of the whole body, or of one event in an event stream, which has the plain content type then. `onFlood` is called for a
 * stream that exceeds this or another limit.
 */
export function boundedFetch(inner: Fetch, maxBytes: number, onFlood: (reason: string) => void): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    if (!response.body) return response;
    const { status, statusText, url: from } = response;
    const headers = new Headers(response.headers);
    const isStream = isReadAsStream(response, init);
    if (isStream) headers.set('content-type', EVENT_STREAM);
    const limit = isStream ? eventLimit(maxBytes, onFlood) : byteLimit(maxBytes);
    const bounded = new Response(response.body.pipeThrough(limit), { status, statusText, headers });
    Object.defineProperty(bounded, 'url', { value: from });
    return bounded;
  };
}

/** As the SDK sees it: what answers a GET for events is a stream, whatever it says; all that failed, and what answers about tokens, is read as a whole. */
function isReadAsStream(response: Response, { method, headers }: RequestInit = {}): boolean {
  if (!response.ok || !new Headers(headers).get('accept')?.includes(EVENT_STREAM)) return false;
  return method === 'GET' || mediaTypeEssence(response.headers.get('content-type')) === EVENT_STREAM;
}

function byteLimit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  const excessIn = createCounter();
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.length;
      const excess = seen > maxBytes ? `${maxBytes} bytes` : excessIn(chunk);
      if (excess !== null) controller.error(new Error(`the tool server sent more than ${excess}`));
      else controller.enqueue(chunk);
    },
  });
}

function eventLimit(maxBytes: number, onFlood: (reason: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const withinLimits = createFloodGuard(STREAM_LIMITS, () => performance.now());
  const pieces = createPieces();
  const excessIn = createCounter({ isStream: true, maxLines: Infinity });
  // The SDK keeps the last one for as long as the server asks it to wait, also when the session is over.
  let hasLongId = false;
  const readId = createEventIdReader(() => (hasLongId = true));
  let seen = 0;
  const problemWith = (chunk: Uint8Array): string | null => {
    readId(chunk);
    if (hasLongId) return `sent an event whose id has more than ${MAX_ID_BYTES} bytes`;
    const eventEnd = lastBlankLine(chunk);
    seen = eventEnd < 0 ? seen + chunk.length : chunk.length - eventEnd;
    if (Math.max(seen, chunk.length) > maxBytes) return `sent an event of more than ${maxBytes} bytes`;
    const excess = excessIn(chunk);
    if (excess !== null) return `sent more than ${excess}`;
    return withinLimits(chunk.length, linesIn(chunk)) ? null : 'flooded its output';
  };
  return new TransformStream({
    async transform(chunk, controller) {
      const problem = problemWith(chunk);
      if (problem !== null) {
        controller.error(new Error(`the tool server ${problem}`));
        return onFlood(problem);
      }
      for await (const piece of pieces(chunk)) controller.enqueue(piece);
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
  for (const byte of chunk) if (byte === LF || byte === CR) lines += 1;
  return lines;
}
