import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { Socket } from 'node:net';
import { afterNewcomers, inTurn, noteNewcomer } from './in-turn.ts';
import { SLOW_CLIENTS } from './slow-clients.ts';
import { createUnfinished, type Unfinished } from './unfinished.ts';

/** How long an answer may wait for a client that takes nothing of it. */
const UNREAD_MS = 60_000;
/** Of all answers that clients have not taken, and how often they are counted. */
const UNREAD_BYTES = 128 * 1024 * 1024;
const LOOK_MS = 500;
/** Requests of one connection that wait for the answer before theirs. */
const MAX_WAITING = 100;

interface FairOptions extends Pick<ServerOptions, 'shouldUpgradeCallback'> {
  /** Null: without TLS. */
  tls?: TlsOptions | null;
  unreadMs?: number;
  /** Of all bodies that are not complete, and all requests that wait for the answer before theirs. */
  unfinishedBytes?: number;
  /** Of all answers that clients have not taken. */
  unreadBytes?: number;
}

/** Every HTTP server of this project: no client takes it from the others, by being slow or by being fast. */
export function fairServer(
  listener: RequestListener,
  { tls, unreadMs = UNREAD_MS, unfinishedBytes, unreadBytes = UNREAD_BYTES, ...options }: FairOptions = {},
): Server {
  const unfinished = createUnfinished<IncomingMessage>(({ socket }) => socket.destroy(), unfinishedBytes);
  const fairly: RequestListener = (request, response) => {
    boundUnfinished(request, response, unfinished);
    boundChunks(request, response);
    oneAtATime(response, () => listener(request, response));
  };
  const server = tls
    ? createTlsServer({ ...SLOW_CLIENTS, ...options, ...tls }, fairly)
    : createServer({ ...SLOW_CLIENTS, ...options }, fairly);
  // Else Node answers these by itself, any number of them in one turn.
  server.on('checkExpectation', fairly);
  const sockets = new Set<Socket>();
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    readInPieces(socket);
  });
  server.on('connection', noteNewcomer);
  cutUnread(server, unreadMs);
  const looking = setInterval(() => boundUnread(sockets, unreadBytes), LOOK_MS).unref();
  server.once('close', () => clearInterval(looking));
  return server;
}

const PIECE_BYTES = 4 * 1024;
/** What Node reads at once. */
const MOST_BYTES = 64 * 1024;
const nothing = () => undefined;

/**
 * Node parses all requests that it reads at once, also where the first of them ends the connection, and reads a socket on and on while
 * more comes. Of one that sends so much more is read after others, and after newcomers.
 */
function readInPieces(socket: Socket): void {
  // Else the parser reads the socket by itself.
  socket.on('data', nothing).off('data', nothing);
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  let rests = false;
  let isWanted = false;
  socket._read = (size) => {
    if (rests) isWanted = true;
    else read(size);
  };
  const goOn = () => {
    rests = false;
    if (isWanted && !socket.destroyed) read(MOST_BYTES);
    isWanted = false;
  };
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(null);
    if (!rests && chunk.length >= MOST_BYTES) afterNewcomers(goOn);
    rests ||= chunk.length >= MOST_BYTES;
    let wantsMore = true;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PIECE_BYTES)
      wantsMore = push(chunk.subarray(at, at + PIECE_BYTES), encoding);
    return wantsMore && !rests;
  };
}

/** A sender with chunks of 200 bytes reaches the largest body. */
const MAX_CHUNKS = 10_000;

/** A client may send a body byte by byte: a thousand times as much work and memory as the body, also where nobody reads it. */
function boundChunks(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const push = request.push.bind(request);
  let chunks = 0;
  request.push = (chunk, encoding) => {
    chunks += 1;
    if (chunks > MAX_CHUNKS) request.socket.destroy();
    return chunks <= MAX_CHUNKS && push(chunk, encoding);
  };
  // Else Node drops what is left after the answer, uncounted.
  request.read(0);
  response.once('finish', () => request.resume());
}

/** What each chunk takes beside its bytes: a client may send them one by one. */
const CHUNK_BYTES = 300;

/** What a request takes beside the bytes of its head, and each name or value in that. */
const REQUEST_BYTES = 4 * 1024;
const TEXT_BYTES = 64;

/** Counts a request until its body is complete and the answer before its own is sent. */
function boundUnfinished(
  request: IncomingMessage,
  response: ServerResponse,
  unfinished: Unfinished<IncomingMessage>,
): void {
  const forget = () => unfinished.done(request)();
  const mustWait = response.socket === null;
  if (mustWait) unfinished.add(request, headBytes(request));
  if (hasBody(request)) endInTurn(request, response, unfinished);
  else if (mustWait) response.once('socket', forget);
  else return;
  request.once('close', forget);
}

const headBytes = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((sum, text) => sum + text.length + TEXT_BYTES, REQUEST_BYTES + url.length);

/** What is done with a body is done when all of it is there: many that are complete at once would be handled in one turn of the event loop. */
function endInTurn(request: IncomingMessage, response: ServerResponse, unfinished: Unfinished<IncomingMessage>): void {
  const push = request.push.bind(request);
  const end = () => {
    const read = unfinished.done(request);
    inTurn(() => {
      read();
      push(null);
    });
  };
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) {
      unfinished.add(request, chunk.length + CHUNK_BYTES);
      return push(chunk, encoding);
    }
    if (response.socket === null) response.once('socket', end);
    else end();
    return false;
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const waiting = new WeakMap<Socket, number>();

/**
 * Handles one request of a connection at a time, each in a turn of the event loop of its own: a client may send a hundred in
 * one packet, and all that others ask for meanwhile would wait for their answers. One that sends more at once is cut off, for
 * Node reads them all. `go` is not called where the client leaves before.
 */
function oneAtATime(response: ServerResponse, go: () => void): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  // An answer has no socket while one before it is not sent.
  const begin = () => unlessGone(response.req, go);
  if (response.socket !== null) return begin();
  const before = waiting.get(socket) ?? 0;
  if (before === MAX_WAITING) return void socket.destroy();
  waiting.set(socket, before + 1);
  response.once('socket', () => {
    waiting.set(socket, (waiting.get(socket) ?? 0) - 1);
    begin();
  });
}

/** That a client left is read in the turn after its request, at the earliest. What it wrote counts all the same: it may not wait for an answer. */
function unlessGone(request: IncomingMessage, go: () => void): void {
  const { method, socket } = request;
  const isGone = () => method === 'GET' && (socket.destroyed || socket.readableEnded);
  const begin = () => void (isGone() || go());
  setImmediate(() => setImmediate(() => (isProbe(request) ? begin() : inTurn(begin))));
}

const PROBES = new Set(['/health', '/ready']);
/** Who asks whether the service lives restarts it where it waits for all that others ask for. */
const isProbe = ({ url = '' }: IncomingMessage): boolean => PROBES.has(url.split('?', 1)[0] ?? '');

/**
 * Closes connections whose client takes nothing of its answer for so long. One whose answer is not made yet may stay, and an idle
 * one is closed after the server's `keepAliveTimeout`, as without this.
 */
function cutUnread(server: Server, milliseconds: number): void {
  server.setTimeout(milliseconds, (socket: Socket) => {
    const isIdle = socket.timeout !== milliseconds;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
}

/** Closes the connections that left most unread. */
function boundUnread(sockets: ReadonlySet<Socket>, maxBytes: number): void {
  let sum = sockets.values().reduce((all, { writableLength }) => all + writableLength, 0);
  if (sum <= maxBytes) return;
  for (const socket of [...sockets].toSorted((a, b) => b.writableLength - a.writableLength)) {
    if (sum <= maxBytes) return;
    sum -= socket.writableLength;
    socket.destroy();
  }
}
