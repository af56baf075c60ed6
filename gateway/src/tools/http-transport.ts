import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo } from '@modelcontextprotocol/sdk/types.js';
import { createAnsweredFetch } from './fetch/answered-fetch.ts';
import { acceptsEvents, boundedFetch } from './bounded-fetch.ts';
import { createFloodGuard, FLOOD_LIMITS } from './flood-guard.ts';
import { IncomingGuard } from './incoming-guard.ts';
import { createRemoteFetch, type Remote, type RemoteFetch } from './fetch/remote-fetch.ts';
import { createTokenFetch } from './fetch/token-fetch.ts';

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** The client reopens a stream when the server asks for it; more than this in ten seconds is a flood. */
const MAX_STREAMS = 200;
/** Requests for tokens, and to find out where to get one, in ten seconds. A look-up makes about four. */
const MAX_FOR_TOKENS = 500;
const TOKEN_MS = 30_000;
/** Answers to requests of the server that it has not taken. */
const MAX_ANSWERS = 16;

export interface Connecting {
  /** How long a tool may take to answer. */
  timeoutMs: number;
  /** What gets a token where the server asks for one. */
  credentials: OAuthClientProvider | null;
}

/**
 * MCP over streamable HTTP. Unlike the SDK's own it ends the session of a server that floods, answers what was never asked or has its
 * streams opened again without a pause, it closes streams of abandoned requests, and it sends no message again and again with new tokens.
 * Redirects to another origin are not followed; a request whose answer can no longer arrive fails at once.
 */
export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  /** Why the session ended, for the operator. */
  reason = 'closed';
  private readonly remote: RemoteFetch;
  private readonly inner: StreamableHTTPClientTransport;
  private readonly incoming = new IncomingGuard();
  private readonly answers = createAnsweredFetch({
    inner: boundedFetch(
      (url, init) => this.fetch(url, init),
      MAX_MESSAGE_BYTES,
      (reason) => this.end(reason),
    ),
    isAwaited: (id) => this.incoming.isAwaited(id),
    lost: (message) => this.receive(message),
    onFlood: (reason) => this.end(reason),
  });
  private readonly withinStreams = createFloodGuard({ ...FLOOD_LIMITS, maxMessages: MAX_STREAMS }, () =>
    performance.now(),
  );
  private readonly withinTokens = createFloodGuard({ ...FLOOD_LIMITS, maxMessages: MAX_FOR_TOKENS }, () =>
    performance.now(),
  );
  private answering = 0;
  private ended = false;

  constructor(remote: Remote, { timeoutMs, credentials }: Connecting) {
    const { url, headers } = remote;
    this.remote = createRemoteFetch(remote, timeoutMs);
    const inner = this.answers.fetch;
    this.inner = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: credentials === null ? inner : createTokenFetch({ inner, url, headers, credentials }),
    });
    this.inner.onmessage = (message) => this.receive(message);
    this.inner.onerror = (error) => {
      const problem = isOfMessage(error) ? this.incoming.problemWithUnreadable() : null;
      if (problem === null) this.onerror?.(error);
      else this.end(problem);
    };
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.ended) throw new Error(`the tool server ${this.reason}`);
    this.incoming.sent(message);
    this.answers.giveUpUnawaited();
    if (!('method' in message)) return this.answer(message);
    try {
      await this.inner.send(message, options);
    } catch (error) {
      this.incoming.notSent(message);
      throw error;
    }
  }

  private async answer(message: JSONRPCMessage): Promise<void> {
    if (this.answering >= MAX_ANSWERS) return this.end(`left more than ${MAX_ANSWERS} answers to its requests`);
    this.answering += 1;
    try {
      await this.inner.send(message);
    } finally {
      this.answering -= 1;
    }
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  close(): Promise<void> {
    this.end('closed');
    return Promise.resolve();
  }

  private async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const isForToken = !acceptsEvents(init);
    if (isForToken && !this.withinTokens(0)) this.end('asked for new tokens too often');
    if (init.method === 'GET' && !this.withinStreams(0)) this.end('asked to reopen its event stream too often');
    if (this.ended) throw new Error(this.reason);
    return this.remote.fetch(url, isForToken ? { ...init, signal: AbortSignal.timeout(TOKEN_MS) } : init);
  }

  private receive(message: JSONRPCMessage): void {
    if (this.ended) return;
    // How many bytes there were is counted where they arrive.
    const problem = this.incoming.problemWith(message, 0);
    if (problem === null) this.onmessage?.(message);
    else this.end(problem);
  }

  /** Once; the first reason stays. */
  private end(reason: string): void {
    if (this.ended) return;
    this.ended = true;
    this.reason = reason;
    void this.inner.close();
    this.remote.close();
    this.onclose?.();
    // The SDK may wait for minutes to reopen a stream, as the server asked it to; the client with all it knows must not wait with it.
    delete this.onmessage;
    delete this.onerror;
    delete this.onclose;
  }
}

/** Whether a message is no JSON, is none of the protocol, or nests too deeply to be described. */
const isOfMessage = (error: Error): boolean =>
  error instanceof SyntaxError || error instanceof RangeError || error.name === 'ZodError';
