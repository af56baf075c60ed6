import type { Socket } from 'node:net';
import { type ErrorType, errorBody } from '@signalbox/crds';

const KNOWN: Record<string, { line: string; type: ErrorType; message: string }> = {
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
const MALFORMED = { line: '400 Bad Request', type: 'validation', message: 'this is not an HTTP request' } as const;

/** Answers what never became a request with the same envelope. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { line, type, message } = KNOWN[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify(errorBody(type, message));
  const head = `HTTP/1.1 ${line}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body);
}
