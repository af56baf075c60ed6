import { AsyncLocalStorage } from 'node:async_hooks';

/** What a request holds until its answer is written: the values that it is made of stay in memory until then. */
export interface Held {
  /** At once where the answer is written already. */
  whenWritten(release: () => void): void;
  /** Whether it is so. */
  isWritten(): boolean;
  /** The answer is written, or nobody waits for it. */
  written(): void;
}

export function createHeld(): Held {
  let releases: (() => void)[] | null = [];
  return {
    whenWritten: (release) => (releases ? void releases.push(release) : release()),
    isWritten: () => releases === null,
    written: () => {
      const all = releases ?? [];
      releases = null;
      for (const release of all) release();
    },
  };
}

const holding = new AsyncLocalStorage<Held>();

/** Does this, and what follows from it, for a request. */
export const holdingFor = <T>(held: Held, work: () => T): T => holding.run(held, work);
/** Of the request that something is done for; undefined where it is done for none. */
export const heldNow = (): Held | undefined => holding.getStore();
