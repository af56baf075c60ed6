import type { FastifyReply } from 'fastify';
import { whenClosed } from './when-closed.ts';

/** One Server-Sent Events answer. */
export interface EventStream {
  /** Runs the listener once when the stream is closed, by either side. */
  onClose(listener: () => void): void;
  /** Sends one frame; a client that does not read is disconnected. */
  send(id: number, data: unknown): void;
  /** Sends frames at the client's pace; resolves when they are written or the stream is closed. */
  replay(frames: readonly { id: number; data: unknown }[]): Promise<void>;
  /** Sends the last frame and ends. */
  finish(data: unknown): void;
  /** Ends it; `retryMs` says when a browser may come back. One whose client is behind is cut. */
  end(retryMs?: number): void;
  /** Closes the connection without flushing; the browser reconnects with `Last-Event-ID`. */
  cut(): void;
}

const COMMENT_EVERY_MS = 15_000;
const MAX_UNREAD_BYTES = 1024 * 1024;
const MAX_PAUSE_MS = 30_000;
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

/** Takes the response over from fastify. */
export function openEventStream(reply: FastifyReply): EventStream {
  reply.hijack();
  const out = reply.raw;
  let closed = false;
  const comment = setInterval(() => write(': still here\n\n'), COMMENT_EVERY_MS);
  comment.unref();
  whenClosed(out, () => {
    closed = true;
    clearInterval(comment);
  });
  // A reset by the client needs no handling; `close` follows.
  out.on('error', () => undefined);
  if (!closed) out.writeHead(200, HEADERS).flushHeaders();

  const write = (text: string): boolean => {
    if (closed || out.writableEnded) return true;
    const flowing = out.write(text);
    if (out.writableLength > MAX_UNREAD_BYTES) out.destroy();
    return flowing;
  };
  const frameOf = (id: number, data: unknown) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  const drained = () =>
    new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        out.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(() => {
        out.destroy();
        done();
      }, MAX_PAUSE_MS);
      out.once('drain', done).once('close', done);
    });

  return {
    onClose: (listener) => whenClosed(out, listener),
    send: (id, data) => void write(frameOf(id, data)),
    replay: async (frames) => {
      for (const { id, data } of frames) {
        if (closed || out.writableEnded) return;
        if (!write(frameOf(id, data))) await drained();
      }
    },
    finish: (data) => {
      if (closed || out.writableEnded) return;
      out.end(`data: ${JSON.stringify(data)}\n\n`);
    },
    end: (retryMs) => {
      // A client that is behind would keep the history that waits for it.
      if (out.writableNeedDrain) out.destroy();
      else if (!out.writableEnded) out.end(retryMs === undefined ? '' : `retry: ${retryMs}\n\n`);
    },
    cut: () => void out.destroy(),
  };
}
