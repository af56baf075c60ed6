/** A proxy between a controller and the API server that injects the faults of networks and busy clusters. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ControlPlane } from './start-control-plane.ts';

/** The active faults; none in an empty object. Probabilities are 0 to 1. */
export interface Faults {
  /** Every new connection is closed at once. */
  down?: boolean;
  /** Chance that an event of a watch never arrives. */
  lose?: number;
  /** Chance that it arrives twice. */
  repeat?: number;
  /** Chance that it arrives after the next one. */
  swap?: number;
  /** A watch is answered with 410, in its stream or at once. */
  gone?: 'status' | 'event';
  /** Every so many writes of a status is answered with 409. */
  conflictEvery?: number;
}

export interface FaultProxy {
  url: string;
  faults: Faults;
  /** Breaks off every watch that is open, or asked for. */
  cutWatches(): void;
  /** Requests that change something, but for leases, since the last call. */
  takeWrites(): string[];
  stop(): Promise<void>;
}

export async function startFaultProxy(plane: ControlPlane, random: () => number): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(plane.caFile) });
  const sockets = new Set<Socket>();
  const watches = new Set<ServerResponse>();
  let writes: string[] = [];
  let statusWrites = 0;

  const forward = (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    onAnswer: (answer: IncomingMessage) => void,
  ) => {
    const { method, url, headers } = incoming;
    const sent = request(`${plane.server}${url}`, {
      method,
      agent,
      headers: { ...headers, host: new URL(plane.server).host },
    });
    sent.on('response', (answer) => {
      answer.on('error', () => outgoing.destroy());
      onAnswer(answer);
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  };
  const passWatch = (answer: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
    outgoing.flushHeaders();
    let held: string | null = null;
    const send = (line: string) => outgoing.write(`${line}\n`);
    const lines = createInterface({ input: answer });
    lines.on('line', (line) => {
      const { lose = 0, repeat = 0, swap = 0 } = proxy.faults;
      if (random() < lose) return;
      if (held === null && random() < swap) {
        held = line;
        return;
      }
      send(line);
      if (random() < repeat) send(line);
      if (held !== null) send(held);
      held = null;
    });
    lines.on('close', () => outgoing.end());
    lines.on('error', () => outgoing.destroy());
  };
  const answerGone = (outgoing: ServerResponse, how: 'status' | 'event') => {
    const status = {
      kind: 'Status',
      status: 'Failure',
      reason: 'Expired',
      code: 410,
      message: 'too old resource version',
    };
    if (how === 'status') return void outgoing.writeHead(410).end(JSON.stringify(status));
    outgoing.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = 'GET', url = '/' } = incoming;
    const { gone, conflictEvery } = proxy.faults;
    const isWatch = url.includes('watch=true');
    if (isWatch) {
      if (gone) return answerGone(outgoing, gone);
      watches.add(outgoing);
      outgoing.on('close', () => watches.delete(outgoing));
    }
    if (method !== 'GET' && !url.includes('/leases')) writes.push(`${method} ${url}`);
    if (/\/status\b/.test(url) && conflictEvery !== undefined && ++statusWrites % conflictEvery === 0)
      return void outgoing
        .writeHead(409)
        .end(JSON.stringify({ kind: 'Status', message: 'the object has been modified' }));
    forward(incoming, outgoing, (answer) => {
      if (isWatch && answer.statusCode === 200) return passWatch(answer, outgoing);
      outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
      answer.pipe(outgoing);
    });
  };

  const server = createServer((incoming, outgoing) =>
    proxy.faults.down ? outgoing.destroy() : handle(incoming, outgoing),
  );
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    if (proxy.faults.down) socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults: {},
    cutWatches: () => {
      for (const watch of watches) watch.destroy();
      if (proxy.faults.down) for (const socket of sockets) socket.destroy();
    },
    takeWrites: () => {
      const taken = writes;
      writes = [];
      return taken;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        agent.destroy();
      }),
  };
  return proxy;
}
