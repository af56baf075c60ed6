import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { WebSocketServer, type WebSocket } from 'ws';

/** What the gateway sees of one `agent.run` request. */
export interface GatewayCall {
  idempotency_key: string;
  run_id: string;
  step_name: string;
}

export interface FakeGatewayOptions {
  port?: number;
  token: string;
  onCall?: (call: GatewayCall) => void;
  /** Milliseconds until the answer; 0 answers within the same turn. */
  delay?: () => number;
}

export interface FakeGateway {
  url: string;
  restUrl: string;
  /** While held, requests are taken and not answered; letting go answers them all. */
  hold: (on: boolean) => void;
  close: () => Promise<void>;
}

interface RpcRequest {
  id?: number | string;
  method: string;
  params?: { agent?: string; idempotency_key?: string; metadata?: { run_id?: string; step_name?: string } };
}

/** A gateway that speaks `/rpc` and answers every `agent.run` at once with a confident agent answer. */
export async function startFakeGateway(options: FakeGatewayOptions): Promise<FakeGateway> {
  const held: (() => void)[] = [];
  let holding = false;
  let served = 0;

  function answer(socket: WebSocket, request: RpcRequest): void {
    const result = RESULTS[request.method]?.(request, ++served);
    if (request.id === undefined) return;
    const error = { code: -32601, message: `no method ${request.method}` };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...(result ? { result } : { error }) }));
  }

  function receive(socket: WebSocket, request: RpcRequest): void {
    if (request.method !== 'agent.run') return answer(socket, request);
    options.onCall?.(callOf(request));
    const delay = options.delay?.() ?? 0;
    if (holding) held.push(() => answer(socket, request));
    else if (delay > 0) setTimeout(answer, delay, socket, request);
    else answer(socket, request);
  }

  const http = createServer((request, response) => {
    const body = request.url === '/health' ? { status: 'ok', version: 'fake' } : { agents: [] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on('upgrade', (request, socket, head) => {
    if (request.headers.authorization !== `Bearer ${options.token}`) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('message', (data) => receive(webSocket, JSON.parse(String(data))));
    });
  });
  const port = await listen(http, options.port ?? 0);

  return {
    url: `ws://127.0.0.1:${port}/rpc`,
    restUrl: `http://127.0.0.1:${port}`,
    hold(on) {
      holding = on;
      if (!on) for (const release of held.splice(0)) release();
    },
    async close() {
      for (const client of sockets.clients) client.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function callOf({ params = {} }: RpcRequest): GatewayCall {
  const { idempotency_key = '', metadata = {} } = params;
  return { idempotency_key, run_id: metadata.run_id ?? '', step_name: metadata.step_name ?? '' };
}

const RESULTS: Record<string, (request: RpcRequest, sequence: number) => object> = {
  'agent.run': (_, sequence) => {
    const output = { confidence: 0.9, summary: 'Nothing to do', proceed: true };
    return {
      run_id: `fake-${sequence}`,
      status: 'completed',
      text: JSON.stringify(output),
      output,
      stop_reason: 'end_turn',
      model: 'fake',
      provider: 'fake',
      agent_version: '000000000000',
      usage: { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 },
      duration_ms: 0,
      iterations: 1,
      tool_calls: 0,
      trace: [],
    };
  },
  'agent.cancel': () => ({ cancelled: true }),
  'agents.list': () => ({ agents: [] }),
  'server.info': () => ({ name: 'fake-gateway', version: 'fake', protocol: 1, methods: Object.keys(RESULTS) }),
  ping: () => ({}),
};

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '0' }, token: { type: 'string', default: 'gateway' } },
  });
  const gateway = await startFakeGateway({ port: Number(values.port), token: values.token });
  process.on('message', (message: { hold: boolean }) => {
    gateway.hold(message.hold);
    process.send?.({ held: message.hold });
  });
  process.on('disconnect', () => process.exit());
  console.log(JSON.stringify({ msg: 'listening', url: gateway.restUrl }));
}
