import { identityOf } from './checkpoints/file-identity.ts';

/** How long an answer holds. */
const LOOK_EVERY_MS = 2000;

/**
 * Tells whether a path still leads to the file that is there now. An open file can be deleted or replaced under a process
 * that goes on writing to it, and what it writes is gone with its end.
 */
export function fileInPlace(path: string, now: () => number): () => boolean {
  const opened = identityOf(path);
  let answer = true;
  let lookedAt = now();
  return () => {
    // A clock that was set back must not keep the next look waiting for hours.
    if (Math.abs(now() - lookedAt) >= LOOK_EVERY_MS) {
      lookedAt = now();
      answer = identityOf(path) === opened;
    }
    return answer;
  };
}
