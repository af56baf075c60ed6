import { setImmediate } from 'node:timers/promises';
import { mediaTypeEssence } from '@modelcontextprotocol/sdk/shared/mediaType.js';
import { createPieces } from '@signalbox/crds/process/rest';
import { createCounter } from '../models/bound-values.ts';
import { createFloodGuard, FLOOD_LIMITS, type FloodGuard } from './flood-guard.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export const EVENT_STREAM = 'text/event-stream';
const LF = 10;
const CR = 13;
/** All event streams of a session together. Comments and empty lines count too: they take time to read. */
const STREAM_LIMITS = { ...FLOOD_LIMITS, maxMessages: 200_000, maxBytes: 64 * 1024 * 1024 };
/** Of an answer about tokens: the SDK describes each value that it did not expect. */
const TOKEN_LIMITS = { maxBytes: 64 * 1024, maxValues: 1000 };
/** To read a body of more takes long enough that the next one waits. */
const SMALL_BYTES = 4 * 1024;
/** Of all answers and events of a session that are not complete. Their text takes twice as much. */
const MAX_UNFINISHED_BYTES = 32 * 1024 * 1024;

/** What the answers of a session share. */
interface Session {
  withinLimits: FloodGuard;
  unfinished: number;
  onFlood: (reason: string) => void;
}

/**
 * The fetch of a session, whose answers fail after `maxBytes`: of the whole body, or of one event in an event stream, which has the plain
 * content type then; and after a larger number of bytes that all of them have begun. `onFlood` is called for a stream that exceeds
 * these or other limits.
 */
export function boundedFetch(
  inner: Fetch,
  maxBytes: number,
  onFlood: (reason: string) => void,
  now = () => performance.now(),
): Fetch {
  const withinLimits = createFloodGuard(STREAM_LIMITS, now);
  const session: Session = { withinLimits, unfinished: 0, onFlood };
  return async (url, init = {}) => {
    const response = await inner(url, init);
    if (!response.body) return response;
    const { status, statusText, url: from } = response;
    const headers = new Headers(response.headers);
    const isStream = isReadAsStream(response, init);
    const most = acceptsEvents(init) ? { maxBytes } : TOKEN_LIMITS;
    if (isStream) headers.set('content-type', EVENT_STREAM);
    const limit = isStream ? eventLimit(maxBytes, session) : byteLimit(most, session);
    const bounded = new Response(response.body.pipeThrough(limit), { status, statusText, headers });
    Object.defineProperty(bounded, 'url', { value: from });
    return bounded;
  };
}

/** As the SDK sees it: what answers a GET for events is a stream, whatever it says; all that failed, and what answers about tokens, is read as a whole. */
function isReadAsStream(response: Response, init: RequestInit): boolean {
  if (!response.ok || !acceptsEvents(init)) return false;
  return asksForEvents(init) || mediaTypeEssence(response.headers.get('content-type')) === EVENT_STREAM;
}

export const asksForEvents = (init: RequestInit): boolean => init.method === 'GET' && acceptsEvents(init);

/** As all requests of the protocol do, and none for a token. */
export const acceptsEvents = ({ headers }: RequestInit): boolean =>
  new Headers(headers).get('accept')?.includes(EVENT_STREAM) ?? false;

interface BodyLimits {
  maxBytes: number;
  maxValues?: number;
}

function byteLimit({ maxBytes, ...most }: BodyLimits, session: Session): TransformStream<Uint8Array, Uint8Array> {
  const excessIn = createCounter(most);
  const unfinished = createUnfinished(session);
  let seen = 0;
  const limit: Transformer<Uint8Array, Uint8Array> = {
    async transform(chunk, controller) {
      seen += chunk.length;
      if (chunk.length > SMALL_BYTES) await ownTurn();
      const excess = seen > maxBytes ? `${maxBytes} bytes` : (unfinished.excess(seen) ?? excessIn(chunk));
      if (excess === null) return controller.enqueue(chunk);
      unfinished.over();
      controller.error(new Error(`the tool server sent more than ${excess}`));
    },
  };
  return transformUntil(limit, unfinished.over, () => (seen > SMALL_BYTES ? ownTurn() : undefined));
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Of the event loop, of all that wait for one: a whole body is read at its end, and many may end at once. */
function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

function eventLimit(maxBytes: number, session: Session): TransformStream<Uint8Array, Uint8Array> {
  const pieces = createPieces();
  const excessIn = createCounter({ isStream: true, maxLines: Infinity });
  const lines = createLines();
  const unfinished = createUnfinished(session);
  const problemWith = (chunk: Uint8Array): string | null => {
    const { ended, eventBytes } = lines(chunk);
    if (Math.max(eventBytes, chunk.length) > maxBytes) return `sent an event of more than ${maxBytes} bytes`;
    const excess = unfinished.excess(eventBytes) ?? excessIn(chunk);
    if (excess !== null) return `sent more than ${excess}`;
    return session.withinLimits(chunk.length, ended) ? null : 'flooded its output';
  };
  const limit: Transformer<Uint8Array, Uint8Array> = {
    async transform(chunk, controller) {
      const problem = problemWith(chunk);
      if (problem !== null) {
        unfinished.over();
        controller.error(new Error(`the tool server ${problem}`));
        return session.onFlood(problem);
      }
      for await (const piece of pieces(chunk)) controller.enqueue(piece);
    },
  };
  return transformUntil(limit, unfinished.over);
}

/** `over` is called when the stream was read, which is after `last`, given up or broke off, but not where it fails here. */
export function transformUntil(
  limit: Transformer<Uint8Array, Uint8Array>,
  over: () => void,
  last: () => Promise<unknown> | undefined = () => undefined,
): TransformStream<Uint8Array, Uint8Array> {
  const flush = async () => {
    await last();
    over();
  };
  // The types do not know of `cancel`.
  const all = { ...limit, flush, cancel: over };
  return new TransformStream(all);
}

/** How much of the session's unfinished bytes one answer has. */
function createUnfinished(session: Session) {
  let own = 0;
  let isOver = false;
  const set = (bytes: number) => {
    if (isOver) return;
    session.unfinished += bytes - own;
    own = bytes;
  };
  return {
    excess: (bytes: number): string | null => {
      set(bytes);
      return session.unfinished > MAX_UNFINISHED_BYTES ? `${MAX_UNFINISHED_BYTES} bytes that are not complete` : null;
    },
    over: () => {
      set(0);
      isOver = true;
    },
  };
}

/** Counts the lines of each chunk of a stream, and the bytes since the last blank one. */
function createLines(): (chunk: Uint8Array) => { ended: number; eventBytes: number } {
  let eventBytes = 0;
  let lineIsEmpty = true;
  let before = 0;
  const endLine = () => {
    if (lineIsEmpty) eventBytes = 0;
    lineIsEmpty = true;
  };
  return (chunk) => {
    let ended = 0;
    for (const byte of chunk) {
      eventBytes += 1;
      const endsLine = byte === LF || byte === CR;
      if (endsLine) ended += 1;
      else lineIsEmpty = false;
      if (endsLine && !(byte === LF && before === CR)) endLine();
      before = byte;
    }
    return { ended, eventBytes };
  };
}
