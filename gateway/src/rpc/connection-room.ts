import type { Duplex } from 'node:stream';
import { createUnfinished } from '@signalbox/crds/process/unfinished';
import type { WebSocket } from 'ws';

const CLOSE_SLOW = 1013;
/** What each piece of a message takes beside its own bytes. */
const PIECE_BYTES = 300;
/** Of one message. */
const MAX_PIECES = 2048;
/** A network may bring fewer than 1,500 bytes at once. */
const LEAST_BYTES = 512;

/** For `ws`: how large a message may be, and in how many pieces it may come. */
export const sizeLimits = (maxBytes: number) => ({
  maxPayload: maxBytes,
  maxBufferedChunks: Math.max(MAX_PIECES, maxBytes / LEAST_BYTES),
  maxFragments: MAX_PIECES,
});

/** Of all connections to one server, or to all pods. */
export interface RoomLimits {
  unreadBytes: number;
  unfinishedBytes: number;
}

/** What a connection tells the room that it shares with others. */
export interface Shared {
  /** A message is complete; call what this returns when it is read. */
  onMessage: () => () => void;
  /** The peer is behind with reading; may cut connections. */
  onUnread: () => void;
}

/** Counts a connection until it ends. */
export type EnterRoom = (socket: WebSocket, stream: Duplex) => Shared;

/** `headBytes`: of a ping that a peer sends. */
export function createConnectionRoom({ unreadBytes, unfinishedBytes }: RoomLimits, headBytes: number): EnterRoom {
  const sockets = new Set<WebSocket>();
  const messages = createUnfinished<WebSocket>(cutUnfinished, unfinishedBytes);
  return (socket, stream) => {
    sockets.add(socket);
    /** Of the message that is not complete. */
    let begun = 0;
    const done = () => {
      begun = 0;
      return messages.done(socket);
    };
    // Before what ends in the piece is handled.
    stream.prependListener('data', (piece: Buffer) => {
      begun += piece.length;
      messages.add(socket, piece.length + PIECE_BYTES);
    });
    // Pings come between the parts of a message, or alone.
    const leaveOut = (data: Buffer) => {
      begun -= data.length + headBytes;
      if (begun <= 0) done()();
    };
    socket.on('ping', leaveOut).on('pong', leaveOut);
    socket.once('close', () => {
      sockets.delete(socket);
      done()();
    });
    return { onMessage: done, onUnread: () => boundUnread(sockets, unreadBytes) };
  };
}

/** Bytes that wait for the peer to read. */
export const unreadOf = (socket: WebSocket): number => (socket.readyState === socket.OPEN ? socket.bufferedAmount : 0);

/** Disconnects a peer that does not read, so that its buffer does not grow. */
export function cutSlow(socket: WebSocket): void {
  socket.close(CLOSE_SLOW, 'reading too slowly');
  // As `ws` does where a message is too large.
  socket.emit('error', new Error('it reads too slowly'));
}

function cutUnfinished(socket: WebSocket): void {
  socket.emit('error', new Error('it did not complete a message, and there is no room for more of it'));
}

/** Cuts those that left most unread, so that nobody else is the victim of many that do not read. */
function boundUnread(sockets: ReadonlySet<WebSocket>, maxBytes: number): void {
  let sum = sockets.values().reduce((all, socket) => all + unreadOf(socket), 0);
  if (sum <= maxBytes) return;
  for (const socket of [...sockets].toSorted((a, b) => unreadOf(b) - unreadOf(a))) {
    if (sum <= maxBytes) return;
    sum -= unreadOf(socket);
    cutSlow(socket);
  }
}
