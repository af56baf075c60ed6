import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const BUSY = 0.5;
/** How many times as long as a portion took it rests where the event loop has nothing but other work. */
const LONG_REST = 10;

/** How much one call takes, and how much while others wait for the event loop. */
export interface Portion {
  most: number;
  busy: number;
}

/**
 * Calls `work` with how much it may take, while it says that there is more. Between two calls it rests: the longer, the more
 * else there was to do in the last rest.
 */
export async function paced(
  work: (most: number) => Promise<boolean>,
  { most, busy }: Portion,
  signal?: AbortSignal,
): Promise<void> {
  for (let load = 1; ;) {
    const began = performance.now();
    if (!(await work(load > BUSY ? busy : most)) || signal?.aborted) return;
    const rest = performance.eventLoopUtilization();
    // Squared: a rest has always some work, of timers and of the rest itself.
    await sleep((performance.now() - began) * LONG_REST * load ** 2);
    load = performance.eventLoopUtilization(rest).utilization;
  }
}
