import type { Readable } from 'node:stream';

const PIECE_BYTES = 4 * 1024;
/** Of one turn of the event loop, for what all these sockets send. */
const TURN_MS = 5;

/** Each hands on the next piece of one socket. */
const waiting: (() => void)[] = [];
let isTurn = false;
let turnEnds = 0;

function hasTime(): boolean {
  if (isTurn) return performance.now() < turnEnds;
  isTurn = true;
  turnEnds = performance.now() + TURN_MS;
  setImmediate(nextTurn);
  return true;
}

function nextTurn(): void {
  isTurn = false;
  while (waiting.length > 0 && hasTime()) waiting.shift()?.();
}

/**
 * Node reads 64 KiB of each socket at once, and the thousands of frames in that are handled before anything else is. Of sockets that send
 * more than a turn of the event loop has time for, this hands on a piece of each in turn, and reads nothing of one whose pieces wait.
 */
export function readInTurns(socket: Readable): void {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  const chunks: (Buffer | null)[] = [];
  const handOn = (): boolean => {
    const [chunk = null] = chunks;
    const rest = chunk?.subarray(PIECE_BYTES);
    if (rest?.length) chunks[0] = rest;
    else chunks.shift();
    if (socket.destroyed) chunks.length = 0;
    return push(chunk && chunk.subarray(0, PIECE_BYTES));
  };
  const handOnLater = () => {
    handOn();
    if (chunks.length > 0) waiting.push(handOnLater);
  };
  // The stream asks again after each piece.
  socket._read = (size) => {
    if (chunks.length === 0) read(size);
  };
  socket.push = (chunk: Buffer | null) => {
    if (chunks.push(chunk) > 1) return false;
    let wantsMore = true;
    while (chunks.length > 0) {
      if (waiting.length > 0 || !hasTime()) {
        waiting.push(handOnLater);
        return false;
      }
      wantsMore = handOn();
    }
    return wantsMore;
  };
}
