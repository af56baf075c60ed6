import type { ActiveRun } from './active-run.ts';
import { failure } from './executor.ts';
import { heldBytes } from './held.ts';

/** Branches that one run and its sub-runs work on at the same time: fan-outs in fan-outs multiply them, and each holds its prompt. */
const MOST_WORKERS = 200;

const working = new WeakMap<ActiveRun, number>();

/** The run that no other one started. */
export const topOf = (run: ActiveRun): ActiveRun => (run.parent === null ? run : topOf(run.parent));

export interface Workers {
  count: number;
  /** One of them has ended. */
  leave(): void;
}

/** Workers for a group of branches: as many as it wants, where the groups around it have left so many, and one at least. */
export function takeWorkers(run: ActiveRun, wanted: number): Workers {
  const top = topOf(run);
  const all = working.get(top) ?? 0;
  const count = Math.min(wanted, Math.max(1, MOST_WORKERS - all));
  working.set(top, all + count);
  return { count, leave: () => void working.set(top, (working.get(top) ?? 0) - 1) };
}

/** Branches of one run and of its sub-runs that have not ended: each leaves a result, and its end in the log. A run alone has fewer. */
const MOST_BRANCHES = 20_000;

export const TOO_MANY_BRANCHES = failure(
  'too_many_branches',
  `one run and its sub-runs that have not ended have at most ${MOST_BRANCHES} branches together`,
);

const branches = new WeakMap<ActiveRun, number>();

/** False where there is no room for so many branches of a group. */
export function addBranches(run: ActiveRun, count: number): boolean {
  if ((branches.get(topOf(run)) ?? 0) + count > MOST_BRANCHES) return false;
  for (let at: ActiveRun | null = run; at; at = at.parent) branches.set(at, (branches.get(at) ?? 0) + count);
  return true;
}

/** Characters of a context and of answers that are read, measured and stored in no time to speak of. */
const FEW_CHARS = 128 * 1024;

/** Whether a run goes on in one short step after the other. Of branches and sub-runs hundreds may go on in one moment. */
export const goesOnAlone = (run: ActiveRun): boolean =>
  run.parent === null && !branches.has(run) && heldBytes(run.context) + run.answers.size < FEW_CHARS;

/** A sub-run has ended. */
export function dropBranches(run: ActiveRun): void {
  const own = branches.get(run) ?? 0;
  for (let at = run.parent; at; at = at.parent) branches.set(at, (branches.get(at) ?? 0) - own);
}
