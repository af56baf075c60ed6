import { isFanOut, isParallel, type Step } from '@signalbox/crds';
import type { Snapshot } from '../definitions/snapshot.ts';
import type { StepExecution, TriggerContext } from './model.ts';
import { isTerminal, type RunStatus } from './model.ts';
import type { RunRequest } from './new-run.ts';

/** What is stored of the run that shall run again. */
export interface Original {
  id: string;
  status: RunStatus;
  pipelineName: string;
  context: TriggerContext;
  steps: StepExecution[];
}

export type Rerun =
  | { kind: 'ready'; request: Omit<RunRequest, 'dedupKey'>; fromStep: string | null; priorSteps: number }
  | { kind: 'running' | 'suspended' }
  | { kind: 'invalid'; message: string };

/**
 * Prepares a rerun with the pipeline's current definition (Design 5): from the start, or from a top-level entry with the
 * results of the entries before it. The new run has no team and no dedup key (Orchestration 4.2).
 */
export function planRerun(snapshot: Snapshot, original: Original, fromStep: string | null): Rerun {
  if (!isTerminal(original.status)) return { kind: 'running' };
  const pipeline = snapshot.byName.get(original.pipelineName);
  if (!pipeline) return { kind: 'invalid', message: `pipeline "${original.pipelineName}" is not loaded any more` };
  if (pipeline.config.suspend) return { kind: 'suspended' };
  const prior = fromStep === null ? [] : priorSteps(pipeline.config.steps, original.steps, fromStep);
  if (typeof prior === 'string') return { kind: 'invalid', message: prior };
  const request = { pipeline, context: original.context, team: null, rerunOf: original.id, prior };
  return { kind: 'ready', request, fromStep, priorSteps: prior.length };
}

/** The executions before the entry, or why they cannot be had. */
function priorSteps(
  entries: readonly Step[],
  executed: readonly StepExecution[],
  fromStep: string,
): StepExecution[] | string {
  const at = entries.findIndex(({ name }) => name === fromStep);
  if (at === -1) return `the pipeline has no top-level step "${fromStep}" any more`;
  const byName = new Map(executed.map((step) => [step.stepName, step]));
  const found: StepExecution[] = [];
  for (const entry of entries.slice(0, at)) {
    const own = byName.get(entry.name);
    if (!own || own.completedAt === null) return `the original run has no result of step "${entry.name}"`;
    found.push(own, ...branchesOf(entry, executed));
  }
  return found;
}

function branchesOf(entry: Step, executed: readonly StepExecution[]): StepExecution[] {
  if (isParallel(entry)) {
    const names = new Set(entry.parallel.steps.map(({ name }) => name));
    return executed.filter(({ stepName }) => names.has(stepName));
  }
  return isFanOut(entry) ? executed.filter(({ stepName }) => stepName.startsWith(`${entry.name}/`)) : [];
}
