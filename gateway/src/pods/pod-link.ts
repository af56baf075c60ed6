import type { Duplex } from 'node:stream';
import { type RpcError, type RpcRequest, type RpcResponse, rpcError } from '@signalbox/crds';
import { readInTurns } from '@signalbox/crds/process/read-in-turns';
import { WebSocket } from 'ws';
import { cutSlow, type EnterRoom, sizeLimits } from '../rpc/connection-room.ts';
import { Connection, type HandleRequest } from '../rpc/connection.ts';
import { type RpcReply, unfit } from '../rpc/one-frame.ts';
import { RUNNER_CONFIGURE, RUNNER_FRAME, RUNNER_STATE, RunnerDraining, RunnerState } from '../runner/protocol.ts';
import { MAX_TOOLS } from '../tools/tool.ts';
import type { ToldTools, ToolRoom } from './tool-room.ts';
import type { WrittenConfiguration } from './written-configuration.ts';

export interface PodLinkDeps {
  url: string;
  agent: string;
  /** With whom it shares turns. */
  peer: string;
  /** Keeps what the pod says of its tools. */
  room: ToolRoom;
  /** Counts what the pod leaves unread and unfinished. */
  enterRoom: EnterRoom;
  /** A new token for each connection. */
  token: () => string;
  handle: HandleRequest;
  onOpen: () => void;
  /** The pod did not take its configuration; it gets no runs until it takes one. */
  onRefused: (reason: string) => void;
  /** The connection ended, or could not be opened. */
  onDown: (reason: string) => void;
  onBug: (error: unknown) => void;
}

const DIAL_TIMEOUT_MS = 5000;
/** Of a configuration: pods of one peer wait for one another. */
const TAKE_TIMEOUT_MS = 10_000;
const SPARE_MS = 2000;
/** A connection that ends sooner was brief: before the next dial is a rest, longer after each one. */
const BRIEF_MS = 10_000;
const REST_MS = 250;
const MAX_REST_MS = 5000;
const MAX_REASON_CHARS = 300;

/** The connection to one pod of an agent. It does not reconnect by itself. */
export class PodLink {
  readonly url: string;
  readonly peer: string;
  /** Runs that are on this pod. */
  load = 0;
  /** Whether the cluster still sends traffic to it. */
  listed = true;
  private readonly deps: PodLinkDeps;
  private dialling = false;
  private connection: Connection | null = null;
  private socket: WebSocket | null = null;
  /** Hash of the configuration that it was sent last. */
  private configured = '';
  /** Why it did not take its configuration. */
  refused: string | null = null;
  private closed = false;
  private draining = false;
  private readonly told: ToldTools;
  private spareUntil = 0;
  private openedAt: number | null = null;
  private brief = 0;
  private restsUntil = 0;

  constructor(deps: PodLinkDeps) {
    this.deps = deps;
    this.url = deps.url;
    this.peer = deps.peer;
    this.told = { agent: deps.agent, list: null, refused: null };
  }

  isOpen(): boolean {
    return this.connection !== null;
  }

  /** Whether it may be given a new run. */
  takesRuns(): boolean {
    return (
      this.isOpen() && this.listed && !this.draining && this.refused === null && performance.now() >= this.spareUntil
    );
  }

  /** The pod refused a run: it is full, or terminating and not reported so yet. */
  spare(): void {
    this.spareUntil = performance.now() + SPARE_MS;
  }

  dial(): void {
    if (this.dialling || this.connection || this.closed || performance.now() < this.restsUntil) return;
    this.dialling = true;
    const socket = new WebSocket(this.url, {
      headers: { authorization: `Bearer ${this.deps.token()}` },
      perMessageDeflate: false,
      ...sizeLimits(RUNNER_FRAME.maxFrameBytes),
      handshakeTimeout: DIAL_TIMEOUT_MS,
      followRedirects: false,
    });
    this.socket = socket;
    let reason = 'closed';
    const down = () => this.down(socket, reason);
    socket.once('upgrade', (response) => this.upgraded(socket, response.socket));
    socket.once('unexpected-response', (request, response) => {
      reason = `the upgrade was answered with ${response.statusCode}`;
      request.destroy();
      down();
    });
    socket.on('error', (error) => {
      reason = error.message;
    });
    socket.once('close', down);
  }

  /** Sends a request; rejects when the connection or `signal` ends first. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<RpcResponse> {
    if (!this.connection) return Promise.reject(new Error('the pod is not connected'));
    return this.connection.request(method, params, signal);
  }

  /** Whether this is the configuration that it was sent last. */
  has({ hash }: Pick<WrittenConfiguration, 'hash'>): boolean {
    return hash === this.configured;
  }

  /**
   * Sends the pod its configuration, where that changed. It arrives before any run that is sent later. Resolves when nothing of it waits
   * here any more; a pod that does not read so far is cut.
   */
  async configure(written: WrittenConfiguration): Promise<void> {
    const { socket, connection } = this;
    if (this.has(written) || !socket || !connection) return;
    const { hash, json } = written;
    this.configured = hash;
    if (!written.fits()) return this.hears(hash, rpcError('invalid_params', `the request ${unfit(RUNNER_FRAME)}`));
    const slow = setTimeout(() => cutSlow(socket), TAKE_TIMEOUT_MS);
    const { answer, taken } = connection.requestWritten(RUNNER_CONFIGURE, json, AbortSignal.timeout(DIAL_TIMEOUT_MS));
    answer.then(
      ({ error }) => this.hears(hash, error),
      () => {
        this.configured = '';
      },
    );
    await taken;
    clearTimeout(slow);
  }

  private hears(hash: string, error: RpcError | undefined): void {
    if (hash !== this.configured) return;
    if (error?.data?.retryable) return void (this.configured = '');
    const reason = error?.message.slice(0, MAX_REASON_CHARS) ?? null;
    if (reason !== null && reason !== this.refused) this.deps.onRefused(reason);
    this.refused = reason;
  }

  checkAlive(): void {
    this.connection?.checkAlive();
  }

  /** From now on the pod is none of the agent's, also where its socket takes a moment to end. */
  close(): void {
    this.closed = true;
    const { socket } = this;
    if (!socket) return;
    this.down(socket, 'closed');
    socket.terminate();
  }

  private upgraded(socket: WebSocket, stream: Duplex): void {
    readInTurns(stream);
    const connection = new Connection(socket, {
      handle: async (request, from) =>
        request.method === RUNNER_STATE ? this.said(request, from) : this.deps.handle(request, from),
      onClosed: () => {},
      peer: this.deps.peer,
      onBug: this.deps.onBug,
      ...RUNNER_FRAME,
      stream,
      ...this.deps.enterRoom(socket, stream),
    });
    socket.once('open', () => {
      if (this.closed) return socket.terminate();
      this.dialling = false;
      this.connection = connection;
      this.openedAt = performance.now();
      this.configured = '';
      this.refused = null;
      this.draining = false;
      this.deps.onOpen();
    });
  }

  private said({ params }: RpcRequest, from: Connection): RpcReply {
    const state = RunnerDraining.safeParse(params);
    if (!state.success || from !== this.connection)
      return { ok: false, error: rpcError('invalid_params', 'the state of the runner is not valid') };
    this.draining = state.data.draining;
    const parsed = RunnerState.safeParse(params);
    const error = parsed.success
      ? this.deps.room.tell(this.told, parsed.data.tools)
      : this.deps.room.refuse(this.told, `a pod lists more than ${MAX_TOOLS} tools, or one that is not valid`);
    return error ? { ok: false, error } : { ok: true, result: null };
  }

  private rest(): void {
    if (this.openedAt === null) return;
    const now = performance.now();
    this.brief = now - this.openedAt < BRIEF_MS ? this.brief + 1 : 0;
    this.restsUntil = now + Math.min(REST_MS * (2 ** this.brief - 1), MAX_REST_MS);
    this.openedAt = null;
  }

  private down(socket: WebSocket, reason: string): void {
    if (this.socket !== socket) return;
    this.socket = null;
    this.dialling = false;
    this.connection = null;
    this.rest();
    this.deps.room.leave(this.told);
    this.deps.onDown(reason);
  }
}
