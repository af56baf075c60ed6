import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorType, errorBody } from '../rpc/errors.ts';

interface Refusal {
  line: string;
  type: ErrorType;
  message: string;
}

const KNOWN: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    type: 'too_large',
    message: 'the headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    type: 'validation',
    message: 'the request did not arrive in time',
  },
};
const MALFORMED: Refusal = { line: '400 Bad Request', type: 'validation', message: 'this is not an HTTP request' };

/** Answers what never became a request with the envelope of all errors. */
export const clientErrorHandler =
  (envelope: (type: ErrorType, message: string) => object = errorBody) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const { line, type, message } = KNOWN[error.code ?? ''] ?? MALFORMED;
    const body = JSON.stringify(envelope(type, message));
    const head = [
      `HTTP/1.1 ${line}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    endWith(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
  };

const HALF_OPEN_MS = 1000;

/** Sends the last that a client gets. No server looks after the socket any more, and one that the client leaves half open would stay. */
export function endWith(socket: Duplex, text: string): void {
  socket.end(text);
  setTimeout(() => socket.destroy(), HALF_OPEN_MS).unref();
}
