import type { ActiveRun } from './active-run.ts';
import { topOf } from './workers.ts';

/** Bytes that are not counted yet: of all runs, and of those of one namespace. */
export interface Holding {
  all: number;
  own: number;
}

const NOTHING: Holding = { all: 0, own: 0 };

/** What runs hold of one kind of memory, by the run that no other one started and by namespace. */
export interface Shares {
  /** Whether there is room for so much more of this run. */
  fits(run: ActiveRun, size: number): boolean;
  add(run: ActiveRun, size: number): void;
  /** Counts what all runs of a namespace, or of the operator, hold once. */
  addCommon(namespace: string | null, size: number): void;
  /** Whether a further run of a namespace, or of the operator, may find no room once `also` is counted. */
  isFull(namespace: string | null, also?: Holding): boolean;
  all(): number;
}

/** So many runs that hold all they may fill the memory of all. */
const RUNS_OF_ALL = 8;

/**
 * `ofRun`: what one run and its sub-runs may hold, and `ofOperator` such a run without a namespace. A namespace may hold as much as is left
 * free: half of all while it is alone, less beside others, and always some for one that holds nothing.
 */
export function createShares(ofRun: number, ofOperator = ofRun): Shares {
  let all = 0;
  const held = new WeakMap<ActiveRun, number>();
  const ofNamespaces = new Map<string, number>();
  const own = (top: ActiveRun) => held.get(top) ?? 0;
  const theirs = (namespace: string | null) => (namespace === null ? 0 : (ofNamespaces.get(namespace) ?? 0));
  const leaves = (size: number, of: number) => of + size <= RUNS_OF_ALL * ofRun - all - size;
  const addCommon = (namespace: string | null, size: number) => {
    all += size;
    const now = theirs(namespace) + size;
    if (namespace === null) return;
    if (now === 0) ofNamespaces.delete(namespace);
    else ofNamespaces.set(namespace, now);
  };
  return {
    fits: (run, size) => {
      const top = topOf(run);
      return own(top) + size <= (top.namespace === null ? ofOperator : ofRun) && leaves(size, theirs(top.namespace));
    },
    add: (run, size) => {
      const top = topOf(run);
      held.set(top, own(top) + size);
      addCommon(top.namespace, size);
    },
    addCommon,
    isFull: (namespace, also = NOTHING) => {
      const own = namespace === null ? 0 : theirs(namespace) + also.own;
      return own + ofRun > RUNS_OF_ALL * ofRun - all - also.all;
    },
    all: () => all,
  };
}
