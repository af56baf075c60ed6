import { cutShort, fitsFrame, MAX_FRAME_BYTES, type RpcResponse, startOf } from '@signalbox/crds';
import { backoffMs } from '../backoff.ts';
import { failure, type Failure } from '../runs/state/executor.ts';
import { RpcOutbox } from './rpc-outbox.ts';
import { isRefusal, openSocket, type RpcSocket, type SocketOptions } from './rpc-socket.ts';

/** How long a call waits for a connection before it fails; a gateway that rolls is back by then. */
export const CONNECT_PATIENCE_MS = 60_000;
const RECONNECT = { firstMs: 100, mostMs: 5_000, jitter: 0.25 };
/** A connection that ends sooner is no better than none: the wait before the next one grows. */
const STEADY_MS = 5_000;
/** How long a cancelled call waits for what it has spent, which the backend says in the error that ends it. */
const CANCEL_PATIENCE_MS = 500;
/** The longest wait that a backend may ask for; a timer takes no more than 24 days and would end at once. */
const MOST_RETRY_AFTER_MS = 3_600_000;
/** Calls that may be open at once. */
export const MAX_OPEN_CALLS = 10_000;

/** Characters of the message of an error: it is in the log of its run, its step, its group and its messages. */
const MOST_MESSAGE_CHARS = 2_000;
const MOST_TYPE_CHARS = 100;

export interface Call {
  method: string;
  params: Record<string, unknown>;
  signal: AbortSignal;
  /** Only calls that may be sent twice outlive their connection: the backend attaches the second to the first. */
  repeatable: boolean;
  /** Key under which `agent.event` notifications name this call. */
  eventKey?: string;
  onEvent?(event: string, fields: Record<string, unknown>): void;
  /** Answers a request of the backend that is about this call; null for any other. */
  onRequest?(method: string, params: unknown): Promise<unknown> | null;
  /** Whether another caller still waits for the call when the signal aborts. */
  outlives?(): boolean;
  /** Sent once when the signal aborts. */
  cancel?: { method: string; params: Record<string, unknown> };
}

/** `data` is that of the backend's error. */
export type CallResult = { ok: true; result: unknown } | (Failure & { data?: unknown });

export interface RpcClient {
  call(call: Call): Promise<CallResult>;
  close(): void;
}

interface Open {
  id: number;
  call: Call;
  settle(result: CallResult): void;
}

/** Over a larger message the other side ends the connection, and with it the calls of all; written again, it ends the next one too. */
const TOO_LARGE = failure(
  'call_too_large',
  `the call is larger than ${MAX_FRAME_BYTES} bytes as JSON, which writes a control character of its prompt in six`,
);

const frameOf = (id: number, { method, params }: Pick<Call, 'method' | 'params'>): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

const answerOf = (id: string | number, answer: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...answer });

const refusal = () => ({ error: { code: -32603, message: 'the decision could not be read' } });
const unavailable = (message: string): Failure => ({ ok: false, type: 'unavailable', message, retryable: true });

/** JSON-RPC over one WebSocket that is opened at need and opened again when lost. */
export class WebSocketRpc implements RpcClient {
  #options: SocketOptions;
  #socket: RpcSocket | null = null;
  /** Of the connection that is open. */
  #outbox: RpcOutbox | null = null;
  #closed = false;
  #failures = 0;
  #openedAt = 0;
  /** Why the last connection ended, or did not come about. */
  #reason = 'no connection yet';
  #reconnect: NodeJS.Timeout | null = null;
  #nextId = 1;
  #open = new Map<number, Open>();
  #byEventKey = new Map<string, Open>();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  call(call: Call): Promise<CallResult> {
    if (this.#closed) return Promise.resolve(unavailable('the client is closed'));
    if (this.#open.size >= MAX_OPEN_CALLS) return Promise.resolve(unavailable(`${MAX_OPEN_CALLS} calls are open`));
    if (call.signal.aborted)
      return Promise.resolve({ ok: false, type: 'cancelled', message: 'stopped', retryable: false });
    const id = this.#nextId++;
    const frame = frameOf(id, call);
    if (!fitsFrame(frame)) return Promise.resolve(TOO_LARGE);
    const settled = this.#track(id, call);
    if (this.#outbox) this.#outbox.send(id, frame);
    else this.#connect();
    return settled;
  }

  /** Apart from `call`, whose written frame would be kept as long as what is made here. */
  #track(id: number, call: Call): Promise<CallResult> {
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => this.#giveUp(id), CONNECT_PATIENCE_MS);
      const abort = () => this.#abort(id);
      const settle = (result: CallResult) => {
        clearTimeout(giveUp);
        call.signal.removeEventListener('abort', abort);
        this.#open.delete(id);
        if (call.eventKey !== undefined) this.#byEventKey.delete(call.eventKey);
        resolve(result);
      };
      const open: Open = { id, call, settle };
      this.#open.set(id, open);
      if (call.eventKey !== undefined) this.#byEventKey.set(call.eventKey, open);
      call.signal.addEventListener('abort', abort, { once: true });
    });
  }

  close(): void {
    this.#closed = true;
    if (this.#reconnect) clearTimeout(this.#reconnect);
    this.#socket?.close();
    this.#failAll(unavailable('the client is closed'));
  }

  #connect(): void {
    if (this.#socket || this.#closed || this.#reconnect) return;
    try {
      this.#socket = this.#openSocket();
    } catch (error) {
      // The file of the CA is read each time, and may be gone for the moment.
      this.#lost(error instanceof Error ? error.message : String(error), null);
    }
  }

  #openSocket() {
    const socket = openSocket(this.#options, {
      open: () => {
        this.#openedAt = performance.now();
        this.#outbox = new RpcOutbox(socket, (id) => this.#frameAgain(id));
        this.#outbox.sendLater(this.#open.keys());
      },
      response: (message) => this.#answered(message),
      notification: (method, params) => this.#notified(method, params),
      request: (id, method, params) => void this.#requested(id, method, params),
      closed: (reason, refused) => this.#lost(reason, refused),
    });
    return socket;
  }

  /** Null for a call that is settled, or waits for the end of what it has stopped. */
  #frameAgain(id: number): string | null {
    const call = this.#open.get(id)?.call;
    return call && !call.signal.aborted ? frameOf(id, call) : null;
  }

  #answered({ id, result, error }: RpcResponse): void {
    const open = typeof id === 'number' ? this.#open.get(id) : undefined;
    if (!open) return;
    if (!error) return open.settle({ ok: true, result });
    const retryAfterMs = error.data?.retry_after_ms;
    open.settle({
      ok: false,
      type: startOf(error.data?.type ?? 'backend_error', MOST_TYPE_CHARS),
      message: cutShort(error.message, MOST_MESSAGE_CHARS),
      retryable: error.data?.retryable ?? false,
      retryAfterMs: retryAfterMs && Math.min(retryAfterMs, MOST_RETRY_AFTER_MS),
      data: error.data,
    });
  }

  #notified(method: string, params: unknown): void {
    if (method !== 'agent.event' || typeof params !== 'object' || params === null) return;
    const { event, idempotency_key: key, ...fields } = params as Record<string, unknown>;
    if (typeof event !== 'string' || typeof key !== 'string') return;
    this.#byEventKey.get(key)?.call.onEvent?.(event, fields);
  }

  /** Lets the call answer that the request is about; where there is none, no approval is possible and the tool is denied. */
  async #requested(id: string | number, method: string, params: unknown): Promise<void> {
    const socket = this.#socket;
    let answering: Promise<unknown> | null = null;
    for (const { call } of this.#open.values()) answering ??= call.onRequest?.(method, params) ?? null;
    const answer = answering
      ? await answering.then((result) => ({ result }), refusal)
      : method === 'tool.request_approval'
        ? { result: { approved: false, comment: 'approvals are not possible here' } }
        : { error: { code: -32601, message: `unknown method ${method}` } };
    // The number means nothing on another connection, where the backend asks again.
    if (this.#socket !== socket) return;
    const frame = answerOf(id, answer);
    socket?.answer(fitsFrame(frame) ? frame : answerOf(id, refusal()));
  }

  #abort(id: number): void {
    const open = this.#open.get(id);
    if (!open) return;
    const { cancel } = open.call;
    const stopped: Failure = { ok: false, type: 'cancelled', message: 'stopped', retryable: false };
    if (open.call.outlives?.()) {
      open.settle(stopped);
      // Nothing that it has asked here is answered any more: it asks whoever takes the call over.
      return this.#socket?.close();
    }
    // A call that timed out before there was a connection names the connection as the cause.
    if (!this.#outbox) return open.settle(this.#unreached());
    if (!cancel) return open.settle(stopped);
    const frame = frameOf(this.#nextId++, cancel);
    if (fitsFrame(frame)) this.#socket?.send(frame);
    setTimeout(() => open.settle(stopped), CANCEL_PATIENCE_MS);
  }

  #giveUp(id: number): void {
    if (!this.#outbox) this.#open.get(id)?.settle(this.#unreached());
  }

  #unreached(): Failure {
    return unavailable(`${this.#options.url} cannot be reached: ${this.#reason}`);
  }

  #lost(reason: string, refused: number | null): void {
    if (this.#outbox && performance.now() - this.#openedAt > STEADY_MS) this.#failures = 0;
    this.#socket = null;
    this.#outbox?.close();
    this.#outbox = null;
    this.#reason = reason;
    if (isRefusal(refused)) return this.#failAll({ ...unavailable(reason), type: 'unauthorized', retryable: false });
    for (const open of this.#open.values()) if (!open.call.repeatable) open.settle(unavailable(reason));
    if (this.#closed || this.#open.size === 0) return;
    this.#failures += 1;
    this.#reconnect = setTimeout(
      () => {
        this.#reconnect = null;
        this.#connect();
      },
      backoffMs(this.#failures, RECONNECT),
    );
  }

  #failAll(failure: Failure): void {
    for (const open of this.#open.values()) open.settle(failure);
  }
}
