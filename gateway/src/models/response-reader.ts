import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { WholeAnswer } from './whole-answer.ts';

type Controller = Dispatcher.DispatchController;
type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** A response as the provider SDKs read it: an event stream as it comes, anything else once it is there as a whole. */
export type Delivered = Response | WholeAnswer;

const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Reads one response off the HTTP client; whole bodies are bounded. */
export class ResponseReader implements Dispatcher.DispatchHandler {
  readonly delivered: Promise<Delivered>;
  private readonly signal: AbortSignal | undefined;
  private deliver!: (response: Delivered) => void;
  private fail!: (error: unknown) => void;
  private controller: Controller | null = null;
  private status = 0;
  private headers: ResponseHeaders = {};
  private chunks: Buffer[] = [];
  private size = 0;
  private stream: Readable | null = null;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    this.delivered = new Promise((resolve, reject) => {
      this.deliver = resolve;
      this.fail = reject;
    });
    signal?.addEventListener('abort', this.abort);
  }

  /** The provider has begun to answer: what breaks off from here on was asked, and maybe paid for. */
  begun(): boolean {
    return this.status !== 0;
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller;
    if (this.signal?.aborted) this.abort();
  }

  onResponseStart(controller: Controller, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    if (!String(headers['content-type']).startsWith('text/event-stream')) return;
    this.stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        controller.abort(error ?? new Error('nobody reads on'));
        done(error);
      },
    });
    const lines = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]);
    this.deliver(new Response(Readable.toWeb(this.stream) as ReadableStream<Uint8Array>, { status, headers: lines }));
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.stream) {
      if (!this.stream.push(chunk)) controller.pause();
      return;
    }
    this.size += chunk.length;
    if (this.size > MAX_BODY_BYTES) controller.abort(new Error(`the provider sent more than ${MAX_BODY_BYTES} bytes`));
    else this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.letGo();
    if (this.stream) this.stream.push(null);
    else this.deliver(new WholeAnswer(this.status, this.headers, wholeOf(this.chunks)));
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.letGo();
    if (this.stream) this.stream.destroy(error);
    else this.fail(error);
  }

  private readonly abort = (): void => {
    const reason: unknown = this.signal?.reason;
    this.controller?.abort(reason instanceof Error ? reason : new Error(String(reason)));
    this.fail(reason);
  };

  private letGo(): void {
    this.signal?.removeEventListener('abort', this.abort);
  }
}

function wholeOf(chunks: Buffer[]): Buffer<ArrayBuffer> {
  const [only] = chunks;
  return chunks.length === 1 ? (only as Buffer<ArrayBuffer>) : Buffer.concat(chunks);
}
