import {
  decodeFrame,
  type RpcError,
  rpcError,
  type RpcId,
  type RpcRequest,
  type RpcResponse,
  valuesIn,
} from '@signalbox/crds';
import { createTurns } from '@signalbox/crds/process/in-turn';
import type { WebSocket } from 'ws';
import { cutSlow, type Shared, unreadOf } from './connection-room.ts';
import { encodeReply, holdsTooMany, isOneFrame, unfit } from './one-frame.ts';
import type { FrameLimits, RpcAnswer, RpcReply } from './one-frame.ts';
import { OpenRequests } from './open-requests.ts';
import { guarded } from '../observability/guarded.ts';
import { BYTES_OF_VALUE } from '../runs/held-chars.ts';

/** The answer to a request of the peer: a result, or an error object. */
export type HandleRequest = (request: RpcRequest, connection: Connection) => Promise<RpcAnswer>;

export interface ConnectionDeps extends FrameLimits, Partial<Shared> {
  /** `bytes` that the request takes once it is read. */
  handle: (request: RpcRequest, connection: Connection, bytes: number) => Promise<RpcAnswer>;
  /** Who takes turns with others, for all its connections. */
  peer: string;
  onClosed: (connection: Connection) => void;
  onBug: (error: unknown) => void;
  /** The socket below, to send the frames of one turn of the event loop in one write. */
  stream: { cork(): void; uncork(): void };
}

/** Of all connections. */
const inTurn = createTurns();

const MAX_IN_FLIGHT = 1000;
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
/** What a peer that reads may leave for a moment, with what is sent next. */
const MAX_UNSUSPICIOUS_BYTES = 32 * 1024;
/** An answer that is sent at once, though others wait for the same run: a turn of its own takes longer. */
const SMALL_CHARS = 16 * 1024;
const MAX_DEPTH = 64;
/** Bytes of a request beside its parameters. */
const ENVELOPE_BYTES = 1000;
/** How long an event may wait for the frames that follow it. */
const EVENT_DELAY_MS = 5;
const CLOSE_UNSUPPORTED = 1003;
const CLOSE_TOO_BIG = 1009;

/** One WebSocket that carries JSON-RPC 2.0 in both directions, any number of requests at once. */
export class Connection {
  alive = true;
  private readonly socket: WebSocket;
  private readonly deps: ConnectionDeps;
  private readonly asked = new OpenRequests();
  private inFlight = 0;
  /** Messages that are complete and not read. */
  private waiting = 0;
  private nextId = 1;
  private events: (() => string)[] = [];
  private corked = false;
  private hasLeftOut = false;
  private flushing: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, deps: ConnectionDeps) {
    this.socket = socket;
    this.deps = deps;
    socket.on('message', (data, isBinary) => this.receiveInTurn(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.alive = true;
    });
    socket.on('error', () => socket.terminate());
    // After the messages before it.
    socket.on('close', () => this.later(() => this.closed()));
  }

  /**
   * `params` is called at the end of this turn of the event loop, so that a run asks its model before its events are encoded.
   * The frame may wait a moment for the next one.
   */
  notify(method: string, params: () => string): void {
    if (this.events.push(() => `{"jsonrpc":"2.0","method":"${method}","params":${params()}}`) === 1)
      setImmediate(() => this.events.length > 0 && this.inTurn(() => this.tell()));
  }

  /** Whether a request with these parameters is one frame. */
  fits(params: unknown): boolean {
    return Buffer.byteLength(JSON.stringify(params)) <= this.deps.maxFrameBytes - ENVELOPE_BYTES;
  }

  /** Sends a request; rejects when the connection or `signal` ends first, or the request is too large. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<RpcResponse> {
    const id = `s${this.nextId++}`;
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    if (!isOneFrame(text, this.deps)) {
      const error = rpcError('invalid_params', `the request ${unfit(this.deps)}`);
      return Promise.resolve({ jsonrpc: '2.0', id, error });
    }
    const answer = this.asked.add(id, signal);
    this.send(text);
    return answer;
  }

  /** Sends a request whose parameters are written and measured already. `taken`: nothing of it waits here any more. */
  requestWritten(
    method: string,
    json: string,
    signal: AbortSignal,
  ): { answer: Promise<RpcResponse>; taken: Promise<void> } {
    const id = `s${this.nextId++}`;
    const text = `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":${json}}`;
    const answer = this.asked.add(id, signal);
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    this.send(text, resolve);
    return { answer, taken };
  }

  /** Sends a ping; closes the connection of a peer that did not answer the last one. */
  checkAlive(): void {
    if (!this.alive) return this.socket.terminate();
    this.alive = false;
    this.socket.ping();
  }

  /** Whether a request of the peer is not answered yet. */
  owesAnswer(): boolean {
    return this.inFlight + this.waiting > 0;
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  private inTurn(work: () => void): void {
    inTurn(() => guarded(work, this.deps.onBug), this.deps.peer);
  }

  /** An answer may take milliseconds, most of them behind a promise: in an immediate of its own, those count. */
  private later(work: () => void): void {
    setImmediate(() => this.inTurn(work));
  }

  /** Nothing more is read of a peer whose messages wait. */
  private receiveInTurn(data: Buffer, isBinary: boolean): void {
    // Its pong may wait behind what it sends.
    this.alive = true;
    const read = this.deps.onMessage?.();
    if (this.waiting === 0) this.socket.pause();
    this.waiting += 1;
    this.later(() => {
      this.waiting -= 1;
      if (this.waiting === 0) this.socket.resume();
      read?.();
      this.receive(data, isBinary);
    });
  }

  private receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) return this.socket.close(CLOSE_UNSUPPORTED, 'text frames only');
    const text = data.toString('utf8');
    if (holdsTooMany(text, { maxFrameValues: this.deps.maxFrameValues, countsNames: true })) {
      this.socket.close(CLOSE_TOO_BIG, 'too many values');
      // As `ws` does where a frame has too many bytes.
      return void this.socket.emit('error', new Error(`a frame had more than ${this.deps.maxFrameValues} values`));
    }
    const frame = decodeFrame(text, this.deps.maxFrameBytes);
    if (!frame.ok) return this.sendError(frame.id, frame.error);
    if (frame.kind === 'response') return this.asked.settle(frame.message);
    if (frame.depth > MAX_DEPTH + 1) {
      return this.sendError(
        frame.message.id ?? null,
        rpcError('invalid_request', `params nest deeper than ${MAX_DEPTH} levels`),
      );
    }
    this.handle(frame.message, data.length + valuesIn(text, true) * BYTES_OF_VALUE);
  }

  private handle(request: RpcRequest, bytes: number): void {
    if (this.inFlight >= MAX_IN_FLIGHT) {
      return this.sendError(
        request.id ?? null,
        rpcError('at_capacity', `at most ${MAX_IN_FLIGHT} requests at once on a connection`, { retry_after_ms: 1000 }),
      );
    }
    this.inFlight += 1;
    void this.answer(request.id, this.deps.handle(request, this, bytes));
  }

  /** Does not know the request: what waits here for the end of a run would keep it in memory. */
  private async answer(id: RpcId | undefined, answering: Promise<RpcAnswer>): Promise<void> {
    const answer = await answering.catch((error: unknown) => this.failed(error));
    if (!('later' in answer)) return this.reply(id, answer);
    const reply = await answer.later;
    if (reply.json.length < SMALL_CHARS) this.reply(id, reply);
    else this.inTurn(() => this.reply(id, reply));
  }

  private reply(id: RpcId | undefined, reply: RpcReply): void {
    if (id !== undefined && this.isOpen()) this.send(this.encode(id, reply));
    this.inFlight -= 1;
  }

  private encode(id: RpcId, reply: RpcReply): string {
    try {
      return encodeReply(id, reply, this.deps);
    } catch (error) {
      return encodeReply(id, this.failed(error), this.deps);
    }
  }

  private failed(error: unknown): RpcReply {
    this.deps.onBug(error);
    return { ok: false, error: rpcError('internal', 'the request failed inside the gateway') };
  }

  private sendError(id: RpcId | null, error: RpcError): void {
    this.send(JSON.stringify({ jsonrpc: '2.0', id, error }));
  }

  private tell(): void {
    const frames = this.events;
    if (frames.length === 0) return;
    this.events = [];
    if (!this.isOpen()) return;
    for (const frame of frames) this.writeEvent(frame());
    this.flushing ??= setTimeout(() => this.flushLate(), EVENT_DELAY_MS);
  }

  private send(text: string, onTaken?: () => void): void {
    this.tell();
    this.write(text, onTaken);
    if (this.inFlight + this.waiting > 1) setImmediate(() => this.flush());
    else process.nextTick(() => this.flush());
  }

  private isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** `onTaken`: nothing of it waits here any more, or the connection ended. */
  private write(text: string, onTaken?: () => void): void {
    const unread = unreadOf(this.socket);
    if (unread > MAX_BUFFERED_BYTES) cutSlow(this.socket);
    else if (unread + text.length > MAX_UNSUSPICIOUS_BYTES) this.deps.onUnread?.();
    if (!this.isOpen()) return onTaken?.();
    if (!this.corked) {
      this.corked = true;
      this.deps.stream.cork();
    }
    this.socket.send(text, onTaken);
  }

  /** Answers and requests are measured where they are made. For an event that is too large, the peer would end all its runs. */
  private writeEvent(text: string): void {
    if (isOneFrame(text, this.deps)) return this.write(text);
    if (this.hasLeftOut) return;
    this.hasLeftOut = true;
    this.deps.onBug(new Error(`a message of ${text.length} characters was left out: it ${unfit(this.deps)}`));
  }

  /** A run sends several small frames in a row; they share one system call. */
  private flush(): void {
    if (!this.corked) return;
    this.corked = false;
    this.deps.stream.uncork();
  }

  /** Not cleared when an answer flushed the events: clearing and setting it for every run costs more than a spare call. */
  private flushLate(): void {
    this.flushing = undefined;
    this.flush();
  }

  private closed(): void {
    this.asked.giveUp('the connection closed');
    this.events = [];
    clearTimeout(this.flushing);
    this.deps.onClosed(this);
  }
}
