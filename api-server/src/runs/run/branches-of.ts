import { isFanOut, isParallel, type Step } from '@signalbox/crds';
import { family } from '../state/hourly.ts';
import type { StepExecution } from '../state/model.ts';

type Named = Pick<StepExecution, 'stepName'>;

interface Executed<T> {
  byName: ReadonlyMap<string, T>;
  /** Items of fan-outs by the names of these. */
  items: ReadonlyMap<string, T[]>;
}

/** Made once for all entries of a run, each of which may have hundreds of branches. */
const known = new WeakMap<readonly Named[], Executed<Named>>();

export function executedOf<T extends Named>(executed: readonly T[]): Executed<T> {
  const found = (known.get(executed) as Executed<T> | undefined) ?? {
    byName: new Map(executed.map((step) => [step.stepName, step])),
    items: Map.groupBy(
      executed.filter(({ stepName }) => stepName.includes('/')),
      ({ stepName }) => family(stepName),
    ),
  };
  known.set(executed, found);
  return found;
}

/** The executions that a group had, as it is now. */
export function branchesOf<T extends Named>(entry: Step, executed: readonly T[]): readonly T[] {
  const { byName, items } = executedOf(executed);
  if (isParallel(entry)) return entry.parallel.steps.flatMap(({ name }) => byName.get(name) ?? []);
  return isFanOut(entry) ? (items.get(entry.name) ?? []) : [];
}

/** The execution of an entry, and those of its branches. */
export function executionsOf<T extends Named>(entry: Step, executed: readonly T[]): readonly T[] {
  const own = executedOf(executed).byName.get(entry.name);
  const branches = branchesOf(entry, executed);
  return own ? [own, ...branches] : branches;
}
