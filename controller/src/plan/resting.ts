import type { Resting } from '@signalbox/crds';
import { createCompute, definitionsIn } from '@signalbox/crds/process/compute';
import { createRest } from '@signalbox/crds/process/rest';

/** Of the one thread, which starts with the first large object and ends when there are no more. */
const MEMORY_MIB = 64;
const TIMEOUT_MS = 1000;
/** More than the services allow by default: theirs is the last word, and their operator may have raised it. */
const PROCESSOR_MS = 5000;

/** How the roles check objects: in turns that let other work in, large ones in a thread. Work that still goes on at the signal ends with its error. */
export function createResting(signal: AbortSignal): Required<Resting> {
  const compute = createCompute({ timeoutMs: TIMEOUT_MS, memoryMib: MEMORY_MIB, threads: 1 });
  signal.addEventListener('abort', () => void compute.close(), { once: true });
  const workIn = definitionsIn(compute, PROCESSOR_MS);
  const work: Resting['work'] = async (ahead) => {
    const done = await workIn(ahead);
    signal.throwIfAborted();
    // The whole plan is made again.
    if (!done.ok && done.passing) throw new Error(`${ahead.name} was not checked: ${done.msg}`);
    return done;
  };
  return { rest: createRest(signal), work };
}
