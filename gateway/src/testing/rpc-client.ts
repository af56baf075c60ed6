import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from './until.ts';

interface Message {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data: Record<string, unknown> };
}

/** A bare JSON-RPC client that keeps everything it receives. */
export class RpcClient {
  readonly messages: Message[] = [];
  closeCode: number | null = null;
  readonly socket: WebSocket;
  private nextId = 1;
  private readonly waiting = new Map<number, (message: Message) => void>();
  /** Answers requests of the server; none: they stay open. */
  onRequest: ((message: Message) => unknown) | null = null;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.receive(JSON.parse(String(data)) as Message));
    socket.on('close', (code) => {
      this.closeCode = code;
    });
    socket.on('error', () => {});
  }

  static async connect(url: string, headers: Record<string, string>, path = '/rpc'): Promise<RpcClient> {
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers });
    const client = new RpcClient(socket);
    await once(socket, 'open');
    return client;
  }

  /** Sends a request and waits for its response, result or error. */
  call(method: string, params?: unknown): Promise<Message> {
    const id = this.nextId++;
    const answered = new Promise<Message>((resolve) => this.waiting.set(id, resolve));
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answered;
  }

  events(): Record<string, unknown>[] {
    return this.messages.filter(({ method }) => method === 'agent.event').map(({ params }) => params ?? {});
  }

  async event(name: string): Promise<Record<string, unknown>> {
    return until(() => this.events().find(({ event }) => event === name));
  }

  close(): void {
    this.socket.terminate();
  }

  private receive(message: Message): void {
    this.messages.push(message);
    if (message.method !== undefined && message.id !== undefined) {
      void Promise.resolve(this.onRequest?.(message)).then((result) => {
        if (result !== undefined) this.socket.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      });
    } else if (typeof message.id === 'number') this.waiting.get(message.id)?.(message);
  }
}
