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
