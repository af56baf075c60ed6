import { setImmediate } from 'node:timers/promises';
import type { Resting } from '@signalbox/crds';
import { createCompute, judgeSchemaIn } from '@signalbox/crds/process/compute';

/** One large schema takes a tenth of a second. */
const TIMEOUT_MS = 1000;
/** How long the event loop is held between two rests. */
const TURN_MS = 5;

/**
 * How the roles check objects that others wrote: in turns, large schemas in a thread that starts with the first one. Work that
 * still goes on at the signal ends with its error.
 */
export function createUntrusted(signal: AbortSignal): Resting & { close(): Promise<void> } {
  const compute = createCompute({ timeoutMs: TIMEOUT_MS, threads: 1, memoryMib: 64, idleMs: 5000 });
  let rested = performance.now();
  return {
    judge: judgeSchemaIn(compute),
    rest: async () => {
      if (performance.now() - rested < TURN_MS) return;
      await setImmediate(undefined, { signal });
      rested = performance.now();
    },
    close: compute.close,
  };
}
