import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorType, errorBody, ERROR_STATUS } from '@signalbox/crds';
import { endWith } from '@signalbox/crds/process/client-error';
import { readInTurns } from '@signalbox/crds/process/read-in-turns';
import { WebSocketServer } from 'ws';
import { type Authenticate, grants, type OnAuthFailure } from '../identity/authenticate.ts';
import type { RunWatcher } from '../runs/run.ts';
import { CONNECTION_LIMITS, isFull, type Peer } from './connection-limits.ts';
import { createConnectionRoom, type EnterRoom, sizeLimits } from './connection-room.ts';
import { Connection } from './connection.ts';
import type { CallMethod } from './methods.ts';
import { watcherOf } from './watcher.ts';

export interface RpcServerDeps {
  authenticate: Authenticate;
  /** Browser origins that may connect; a client without the header is not a browser. */
  allowedOrigins: readonly string[];
  maxFrameBytes: number;
  maxFrameValues: number;
  countsNames?: boolean;
  call: CallMethod;
  onGone: (watcher: RunWatcher) => void;
  onAuthFailure: OnAuthFailure;
  onBug: (error: unknown) => void;
  limits?: typeof CONNECTION_LIMITS;
}

const PING_EVERY_MS = 20_000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_PATIENCE_MS = 1000;
const PING_HEAD_BYTES = 6;

interface Refusal {
  type: ErrorType;
  message: string;
}

/** The WebSocket side of the service: it authorizes upgrades and holds the connections (Gateway 4). */
export class RpcServer {
  private readonly deps: RpcServerDeps;
  /** With the token and the address of each. */
  private readonly connections = new Map<Connection, Peer>();
  private readonly upgrader: WebSocketServer;
  private readonly pinging: NodeJS.Timeout;
  private readonly enterRoom: EnterRoom;

  constructor(deps: RpcServerDeps) {
    this.deps = deps;
    const { limits = CONNECTION_LIMITS } = deps;
    this.enterRoom = createConnectionRoom(limits, PING_HEAD_BYTES);
    this.upgrader = new WebSocketServer({
      noServer: true,
      ...sizeLimits(deps.maxFrameBytes),
      perMessageDeflate: false,
      clientTracking: false,
    });
    this.pinging = setInterval(() => {
      for (const connection of this.connections.keys()) connection.checkAlive();
    }, PING_EVERY_MS);
    this.pinging.unref();
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  size(): number {
    return this.connections.size;
  }

  /** Waits for pending answers, closes the connections, then terminates those that stay open. */
  async close(): Promise<void> {
    clearInterval(this.pinging);
    await this.whileAny((connection) => connection.owesAnswer());
    for (const connection of this.connections.keys()) connection.close(CLOSE_GOING_AWAY, 'the gateway is stopping');
    await this.whileAny(() => true);
    for (const connection of this.connections.keys()) connection.terminate();
  }

  private async whileAny(waitsFor: (connection: Connection) => boolean): Promise<void> {
    const deadline = performance.now() + CLOSE_PATIENCE_MS;
    while (performance.now() < deadline && [...this.connections.keys()].some(waitsFor))
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const who = this.deps.authenticate(request.headers.authorization);
    if (!who.ok) {
      this.deps.onAuthFailure(who.reason, aboutUpgrade(request));
      const message = who.reason === 'missing' ? 'a bearer token is required' : 'the token is invalid';
      return refuse(socket, 'unauthorized', message);
    }
    if (!grants(who.token, 'invoke')) {
      this.deps.onAuthFailure('scope', aboutUpgrade(request));
      return refuse(socket, 'forbidden', `the ${who.token} token lacks the scope invoke`);
    }
    const peer = { token: who.token, address: request.socket.remoteAddress ?? '' };
    const refused = this.refusal(request) ?? this.excess(peer);
    if (refused) return refuse(socket, refused.type, refused.message);
    readInTurns(socket);
    this.upgrader.handleUpgrade(request, socket, head, (webSocket) => {
      const connection: Connection = new Connection(webSocket, {
        handle: (message, _, bytes) => this.deps.call(message, watcher, bytes),
        peer: `token ${peer.token}`,
        onClosed: () => {
          this.connections.delete(connection);
          this.deps.onGone(watcher);
        },
        onBug: this.deps.onBug,
        maxFrameBytes: this.deps.maxFrameBytes,
        maxFrameValues: this.deps.maxFrameValues,
        countsNames: this.deps.countsNames ?? false,
        stream: socket,
        ...this.enterRoom(webSocket, socket),
      });
      const watcher = watcherOf(connection, who.approves, peer);
      this.connections.set(connection, peer);
    });
  }

  private refusal(request: IncomingMessage): Refusal | null {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== '/rpc') return { type: 'not_found', message: 'WebSocket connections are accepted at /rpc only' };
    const { origin } = request.headers;
    if (origin !== undefined && !this.deps.allowedOrigins.includes(origin)) {
      return { type: 'forbidden', message: 'this origin is not listed in server.allowed_origins' };
    }
    return null;
  }

  private excess(peer: Peer): Refusal | null {
    const { limits = CONNECTION_LIMITS } = this.deps;
    const full = isFull([...this.connections.values()], peer, limits);
    return full ? { type: 'forbidden', message: 'too many connections' } : null;
  }
}

const aboutUpgrade = ({ socket }: IncomingMessage) => ({ route: 'GET /rpc', address: socket.remoteAddress ?? '' });

function refuse(socket: Duplex, type: ErrorType, message: string): void {
  const body = JSON.stringify(errorBody(type, message));
  const head = [
    `HTTP/1.1 ${ERROR_STATUS[type]} ${type}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(type === 'unauthorized' ? ['WWW-Authenticate: Bearer'] : []),
  ];
  endWith(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}
