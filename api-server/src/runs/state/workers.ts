import type { ActiveRun } from './active-run.ts';

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
