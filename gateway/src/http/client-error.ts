import type { Socket } from 'node:net';
import { errorBody } from '@signalbox/crds';

const KNOWN: Record<string, { line: string; message: string }> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', message: 'the headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'the request did not arrive in time' },
};
const MALFORMED = { line: '400 Bad Request', message: 'this is not an HTTP request' };

/** Answers what never became a request with the envelope of all errors (Gateway 7). */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { line, message } = KNOWN[error.code ?? ''] ?? MALFORMED;
  const problem = { agent: '', field: '', value: null, message, severity: 'error' };
  const body = JSON.stringify(errorBody('validation', message, { errors: [problem] }));
  const head = [
    `HTTP/1.1 ${line}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
