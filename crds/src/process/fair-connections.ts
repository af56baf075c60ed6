import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long an answer may wait for a client that takes nothing of it. */
export const UNREAD_MS = 60_000;

/**
 * Handles one request of a connection at a time, each in a turn of the event loop of its own: a client may send a thousand in
 * one packet, and all that others ask for meanwhile would wait for their answers. `go` is not called where the client leaves before.
 */
export function inTurn(response: Pick<ServerResponse, 'socket' | 'once'>, go: () => void): void {
  // An answer has no socket while one before it is not sent.
  if (response.socket !== null) return go();
  response.once('socket', () => setImmediate(go));
}

/**
 * Closes connections whose client takes nothing of its answer for so long. One whose answer is not made yet may stay, and an idle
 * one is closed after the server's `keepAliveTimeout`, as without this.
 */
export function cutUnread(server: Server, milliseconds = UNREAD_MS): void {
  server.setTimeout(milliseconds, (socket: Socket) => {
    const isIdle = socket.timeout !== milliseconds;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
}
