import { type FanOutStep, isFanOut, isParallel, type ParallelStep, type Step } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { callFailureWebhook } from '../step/failure-webhook.ts';
import { runFanOut } from '../group/fan-out.ts';
import { failGroup, stepOfGroup, type Group } from '../group/group.ts';
import { startedStep } from '../evidence/step-execution.ts';
import { runParallel } from '../group/parallel.ts';
import { runStep, type StepDeps, type StepOutcome } from '../step/step.ts';
import { holdSlot } from '../state/shared-slot.ts';
import { noteSkip } from '../step/step-notes.ts';
import { evaluateWhen } from '../prompt/when.ts';

/** Ends that are those of the runs above too. */
const ENDS_ALL: ReadonlySet<string> = new Set(['aborted', 'escalated']);

/** Runs one entry of a pipeline, whatever its shape. */
export async function runEntry(deps: StepDeps, run: ActiveRun, step: Step, index: number): Promise<StepOutcome> {
  if (!isParallel(step) && !isFanOut(step)) {
    const { span, slot, controller } = run;
    const { signal } = controller;
    return runStep(deps, { run, step, name: step.name, index, kind: 'step', locals: {}, span, signal, slot });
  }
  const outcome = await runGroup(deps, run, step, index);
  // The last branch may have ended without a slot; a run that ends here needs none, a sub-run's parent may go on.
  const goesOn = outcome.status === 'completed' || outcome.status === 'failed';
  if (goesOn || (run.depth > 1 && !ENDS_ALL.has(outcome.status))) await holdSlot(run.slot, run.controller.signal);
  if (outcome.status === 'failed' && outcome.error)
    await callFailureWebhook(deps, { run, step, name: step.name, locals: {} }, outcome.error);
  return outcome;
}

async function runGroup(
  deps: StepDeps,
  run: ActiveRun,
  step: ParallelStep | FanOutStep,
  index: number,
): Promise<StepOutcome> {
  const executor = isParallel(step) ? 'parallel' : 'fan_out';
  const condition = await evaluateWhen(deps, { run, name: step.name }, step.when);
  if (condition === 'skip') return skipGroup(deps, { run, step, index, executor });
  if (condition !== 'run')
    return failGroup(deps, { run, step, index, executor, join: 'all_must_pass', raw: null }, condition);
  return isParallel(step) ? runParallel(deps, run, step, index) : runFanOut(deps, run, step, index);
}

type Skipped = Pick<Group, 'run' | 'step' | 'index' | 'executor'>;

function skipGroup(deps: StepDeps, group: Skipped): StepOutcome {
  const { run, step } = group;
  const at = deps.now();
  noteSkip(run, step.name);
  const skipped = { id: deps.newId(at), at, attempt: 0, prepared: null, status: 'skipped' as const };
  run.pending.push(deps.store.insertStep(startedStep(stepOfGroup(group), skipped)));
  return { status: 'skipped', error: null };
}
