import type { ParallelStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { beginGroup, endGroup, failGroup, runBranches, type Branch, type Group } from './group.ts';
import { addBranches, TOO_MANY_BRANCHES } from '../state/workers.ts';
import type { StepDeps, StepOutcome } from '../step/step.ts';

/** Runs all branches of a parallel group at the same time and joins their trust. */
export async function runParallel(
  deps: StepDeps,
  run: ActiveRun,
  step: ParallelStep,
  index: number,
): Promise<StepOutcome> {
  const group: Group = { run, step, index, executor: 'parallel', join: step.parallel.join, raw: null };
  if (!addBranches(run, step.parallel.steps.length)) return failGroup(deps, group, TOO_MANY_BRANCHES);
  const begun = await beginGroup(deps, group, step.parallel.steps.length);
  const branches = step.parallel.steps.map((branch): Branch => ({
    ctx: { run, step: branch, name: branch.name, index, kind: 'branch', locals: {}, span: begun.span },
    weight: branch.weight,
  }));
  const errors = await runBranches(deps, begun, branches, branches.length);
  return endGroup(deps, begun, branches, errors);
}
