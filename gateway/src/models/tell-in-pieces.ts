import { setTimeout as delay } from 'node:timers/promises';

/** What is told at once; then those who read get a moment. No model writes as fast. */
const MAX_CHARS = 64 * 1024;
const MOMENT_MS = 10;

/** Tells texts in pieces that each fit a frame, no faster than a client reads. */
export function tellInPieces(onText: (piece: string) => void): (text: string) => Promise<void> {
  let left = MAX_CHARS;
  return async (text) => {
    for (let at = 0; at < text.length;) {
      const piece = text.slice(at, at + left);
      onText(piece);
      at += piece.length;
      left -= piece.length;
      if (left > 0) continue;
      await delay(MOMENT_MS);
      left = MAX_CHARS;
    }
  };
}
