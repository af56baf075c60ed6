import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { decodeFrame, MAX_FRAME_BYTES, MAX_FRAME_VALUES, rpcError, type RpcResponse, valuesIn } from '@signalbox/crds';
import { readInTurns } from '@signalbox/crds/process/read-in-turns';
import { WebSocket } from 'ws';

export interface SocketOptions {
  url: string;
  token: string;
  /** File with the CA of a `wss:` backend. */
  ca?: string;
  pulse?: Pulse;
}

/** How often a connection is probed, and how long nothing may come back. */
export interface Pulse {
  pingEveryMs: number;
  silenceMs: number;
}

export interface SocketEvents {
  response(message: RpcResponse): void;
  notification(method: string, params: unknown): void;
  /** A request of the server; the answer goes back with `send`. */
  request(id: string | number, method: string, params: unknown): void;
  open(): void;
  /** `refused` is the HTTP status of a refused upgrade. */
  closed(reason: string, refused: number | null): void;
}

const HANDSHAKE_MS = 10_000;
/** Answers to requests of the backend that it has not read. */
const MAX_UNREAD_ANSWERS = 5_000;
/** Bytes that wait to be written before the connection is full. */
const MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024;
/** Three unanswered pings mean that a backend is gone. */
const PULSE: Pulse = { pingEveryMs: 20_000, silenceMs: 60_000 };

export interface RpcSocket {
  /** Sends a request. */
  send(text: string): void;
  /** Sends the answer to a request of the backend, which has to read what it asks for. */
  answer(text: string): void;
  /** Whether more waits to be written than the memory should hold: what is not urgent waits until it is drained. */
  isFull(): boolean;
  /** Ends once all is written; never where the connection ends before. */
  drained(): Promise<void>;
  close(): void;
}

/** One WebSocket connection of JSON-RPC frames. Calls `closed` exactly once. */
export function openSocket(options: SocketOptions, events: SocketEvents): RpcSocket {
  const socket = new WebSocket(options.url, {
    headers: options.token ? { authorization: `Bearer ${options.token}` } : {},
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    ...(options.ca ? { ca: readFileSync(options.ca) } : {}),
  });
  let reason = 'the connection was closed';
  let refused: number | null = null;
  const { pingEveryMs, silenceMs } = options.pulse ?? PULSE;
  const silence = setTimeout(() => socket.terminate(), silenceMs);
  // The gateway sends pings itself; other backends need not.
  const pings = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, pingEveryMs);
  let stream: Socket | null = null;
  socket.on('upgrade', (response) => {
    stream = response.socket;
    readInTurns(stream);
  });
  socket.on('open', events.open);
  socket.on('ping', () => silence.refresh());
  socket.on('pong', () => silence.refresh());
  socket.on('unexpected-response', (request, response) => {
    refused = response.statusCode ?? null;
    reason = `the backend refused the connection with ${String(refused)}`;
    response.resume();
    request.destroy();
    socket.terminate();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // Where a name has several addresses and none answers, only the code says why.
    if (refused === null) reason = error.message || (error.code ?? error.name);
  });
  socket.on('close', () => {
    clearTimeout(silence);
    clearInterval(pings);
    events.closed(reason, refused);
  });
  socket.on('message', (data: Buffer, isBinary) => {
    silence.refresh();
    if (isBinary) return;
    const text = data.toString('utf8');
    if (text.length > MAX_FRAME_VALUES && valuesIn(text) > MAX_FRAME_VALUES) return refuse(text, events);
    const frame = decodeFrame(text);
    if (!frame.ok) return;
    if (frame.kind === 'response') return events.response(frame.message);
    const { id, method, params } = frame.message;
    return id === undefined ? events.notification(method, params) : events.request(id, method, params);
  });
  let unread = 0;
  return {
    send: (text) => {
      if (stream) together(stream);
      socket.send(text);
    },
    answer: (text) => {
      unread += 1;
      if (unread > MAX_UNREAD_ANSWERS) socket.terminate();
      else socket.send(text, () => (unread -= 1));
    },
    isFull: () => socket.bufferedAmount > MAX_UNWRITTEN_BYTES,
    drained: () => new Promise((resolve) => stream?.once('drain', resolve)),
    close: () => socket.close(),
  };
}

const TOO_MANY = `the message has more than ${MAX_FRAME_VALUES} values`;
/** The number of an answer, where JSON-RPC libraries write it. */
const ANSWERED = [
  /^\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"\s*:/,
  /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:[^]*"id"\s*:\s*(\d{1,15})\s*\}$/,
];

/** A message that is not parsed: who waits for it hears that it is of no use. */
function refuse(text: string, { response }: Pick<SocketEvents, 'response'>): void {
  for (const form of ANSWERED) {
    const id = form.exec(text)?.[1];
    if (id) return response({ jsonrpc: '2.0', id: Number(id), error: rpcError('output_invalid', TOO_MANY) });
  }
}

/** Frames of one turn of the event loop leave in one write. */
function together(stream: Socket): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

export const isRefusal = (status: number | null): boolean => status !== null && status >= 400 && status < 500;
