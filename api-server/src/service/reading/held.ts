import { AsyncLocalStorage } from 'node:async_hooks';

/** How long a client that takes its answer slowly keeps others waiting; what it has not taken has a bound of its own. */
const TAKE_MS = 1_000;

/** What a request holds until its client has taken the answer. */
export interface Held {
  /** At once where that is so already. */
  whenTaken(release: () => void): void;
  /** Whether it is so. */
  isTaken(): boolean;
  /** The answer is complete; it is taken soon. */
  sent(): void;
  /** The answer was taken, or nobody waits for it. */
  taken(): void;
}

export function createHeld(): Held {
  let releases: (() => void)[] | null = [];
  const taken = () => {
    const all = releases ?? [];
    releases = null;
    for (const release of all) release();
  };
  return {
    whenTaken: (release) => (releases ? void releases.push(release) : release()),
    isTaken: () => releases === null,
    sent: () => {
      if (releases && releases.length > 0) setTimeout(taken, TAKE_MS).unref();
    },
    taken,
  };
}

const holding = new AsyncLocalStorage<Held | undefined>();

/** Does this, and what follows from it, for a request. */
export const holdingFor = <T>(held: Held, work: () => T): T => holding.run(held, work);
/** The same for none: what is read has room only as long as this takes. */
export const heldByNone = <T>(work: () => T): T => holding.run(undefined, work);
/** Of the request that something is done for; undefined where it is done for none. */
export const heldNow = (): Held | undefined => holding.getStore();
