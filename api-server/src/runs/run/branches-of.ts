import { isFanOut, isParallel, type Step } from '@signalbox/crds';
import { family } from '../state/hourly.ts';
import type { StepExecution } from '../state/model.ts';

interface Executed {
  byName: ReadonlyMap<string, StepExecution>;
  /** Items of fan-outs by the names of these. */
  items: ReadonlyMap<string, StepExecution[]>;
}

/** Made once for all entries of a run, each of which may have hundreds of branches. */
const known = new WeakMap<readonly StepExecution[], Executed>();

export function executedOf(executed: readonly StepExecution[]): Executed {
  const found = known.get(executed) ?? {
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
export function branchesOf(entry: Step, executed: readonly StepExecution[]): readonly StepExecution[] {
  const { byName, items } = executedOf(executed);
  if (isParallel(entry)) return entry.parallel.steps.flatMap(({ name }) => byName.get(name) ?? []);
  return isFanOut(entry) ? (items.get(entry.name) ?? []) : [];
}
