import { Worker } from 'node:worker_threads';

/** The longest that `/health` may take during an attack. */
export const MAX_HEALTH_MS = 2000;

export interface HealthProbe {
  /** Milliseconds of the slowest answer so far, of one that is still awaited too. */
  slowest(): number;
  stop(): void;
}

/** Until the first answer: a thread that never asks must not pass for a service that answers at once. */
const NOTHING_YET = -1;

/** Asks for `/health` every 100 ms, whether or not the answer before has come, and from a thread: the attack keeps this one busy. */
export function probeHealth(url: string): HealthProbe {
  const slowest = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  slowest[0] = NOTHING_YET;
  const began = performance.now();
  const thread = new Worker(new URL('probe-thread.ts', import.meta.url), { workerData: { url, slowest } });
  return {
    slowest: () => (slowest[0] === NOTHING_YET ? performance.now() - began : (slowest[0] ?? Infinity)),
    stop: () => void thread.terminate(),
  };
}
