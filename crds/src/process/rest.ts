import { setImmediate } from 'node:timers/promises';

/** How long the event loop is held between two rests. */
const TURN_MS = 5;

/** Called between the parts of long work, lets other work in after some milliseconds. Throws after the signal. */
export function createRest(signal?: AbortSignal): () => Promise<void> {
  let rested = performance.now();
  return async () => {
    if (performance.now() - rested < TURN_MS) return;
    await setImmediate(undefined, signal ? { signal } : {});
    rested = performance.now();
  };
}

const PIECE_BYTES = 8 * 1024;

/** Makes the function that cuts chunks of a stream, with other work in between: to read a chunk may take far longer than to receive it. */
export function createPieces(): (chunk: Uint8Array) => AsyncGenerator<Uint8Array> {
  const rest = createRest();
  return async function* (chunk) {
    await rest();
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      // What reads the piece before does so in this turn.
      if (at > 0) await setImmediate();
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  };
}
