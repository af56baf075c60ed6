import type { Slot } from '../state/active-run.ts';

/** Slots of one process: a run that executes holds one (Orchestration 8, `concurrency.max_runs`). */
export interface Capacity {
  readonly max: number;
  active(): number;
  /** Runs that wait for a slot. */
  waiting(): number;
  /** Adds to the runs that are stored and about to wait; a negative number takes them away again. */
  announce(count: number): void;
  announced(): number;
  /** Takes `count` slots or none. */
  tryTake(count?: number): boolean;
  release(): void;
  /** Calls whenever a slot becomes free and no run of this process waits for it. */
  onRoom(listener: () => void): void;
  /** Resolves with a slot, in the order of the calls; rejects when the signal aborts first. */
  take(signal: AbortSignal): Promise<void>;
}

export function createCapacity(max: number): Capacity {
  let taken = 0;
  let announced = 0;
  const waiting: (() => void)[] = [];
  let freed = () => {};
  const tryTake = (count = 1) => {
    if (taken + count > max) return false;
    taken += count;
    return true;
  };
  return {
    max,
    active: () => taken,
    waiting: () => waiting.length,
    announce: (count) => void (announced += count),
    announced: () => announced,
    tryTake,
    release: () => {
      const next = waiting.shift();
      if (next) return next();
      taken -= 1;
      freed();
    },
    onRoom: (listener) => void (freed = listener),
    take: (signal) =>
      new Promise<void>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        if (waiting.length === 0 && tryTake()) return resolve();
        const give = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          waiting.splice(waiting.indexOf(give), 1);
          reject(signal.reason as Error);
        };
        waiting.push(give);
        signal.addEventListener('abort', leave, { once: true });
      }),
  };
}

/** A slot of the process's capacity, held from the start or not. Giving back twice gives back once. */
export function slotOf(capacity: Capacity, heldNow: boolean): Slot {
  let holds = heldNow;
  return {
    giveBack: () => {
      if (holds) capacity.release();
      holds = false;
    },
    takeAgain: async (signal) => {
      if (holds) return;
      await capacity.take(signal);
      holds = true;
    },
  };
}
