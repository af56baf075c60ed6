import type { Readable } from 'node:stream';
import { createTurns, type InTurn } from './in-turn.ts';

const PIECE_BYTES = 4 * 1024;
const inTurns = createTurns();

/**
 * Node reads 64 KiB of each socket at once, and the thousands of frames in that are handled before anything else is. Of sockets that send
 * more than a turn of the event loop has time for, this hands on a piece of each in turn, and reads nothing of one whose pieces wait.
 */
export function readInTurns(socket: Readable, inTurn: InTurn = inTurns): void {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  const chunks: (Buffer | null)[] = [];
  let wantsMore = true;
  const handOn = () => {
    const [chunk = null] = chunks;
    const rest = chunk?.subarray(PIECE_BYTES);
    if (rest?.length) chunks[0] = rest;
    else chunks.shift();
    if (socket.destroyed) chunks.length = 0;
    else wantsMore = push(chunk && chunk.subarray(0, PIECE_BYTES));
    if (chunks.length > 0) inTurn(handOn);
  };
  // The stream asks again after each piece.
  socket._read = (size) => {
    if (chunks.length === 0) read(size);
  };
  socket.push = (chunk: Buffer | null) => {
    if (chunks.push(chunk) > 1) return false;
    inTurn(handOn);
    return chunks.length === 0 && wantsMore;
  };
}
