import type { Step } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { stopReason, type Stopped } from '../state/stopped.ts';
import { NOT_STORED } from '../state/definition-bytes.ts';
import { runEntry } from './entry.ts';
import type { RunError, TerminalRunStatus } from '../state/model.ts';
import { STEP_CONSEQUENCE } from '../state/status.ts';
import type { StepDeps, StepOutcome } from '../step/step.ts';
import { policyOf } from '../evidence/warnings.ts';

export interface RunOutcome {
  status: TerminalRunStatus;
  error: RunError | null;
}

/**
 * Runs the entries of a pipeline in order until one ends the run or none is left; ended entries never run again.
 * What the last one wrote waits in `run.pending` for the transaction that ends the run.
 */
export async function runSequence(deps: StepDeps, run: ActiveRun): Promise<RunOutcome> {
  if (run.pipeline.steps.length > 0) return runEntries(deps, run);
  return { status: 'failed', error: { step: null, message: NOT_STORED } };
}

async function runEntries(deps: StepDeps, run: ActiveRun): Promise<RunOutcome> {
  for (const [index, step] of run.pipeline.steps.entries()) {
    if (run.results.has(step.name)) continue;
    const stopped = stopReason(run.controller.signal);
    if (stopped?.why === 'shutdown') throw stopped;
    if (stopped && !mayBeAnswered(run, step, stopped)) return afterStop(stopped);
    const outcome = await runEntry(deps, run, step, index);
    const next = consequence(step, outcome);
    if (GOES_ON.has(next) && deps.templates.isBarred(run.id)) return barred(step);
    if (next !== 'next') return { status: next, error: runError(step, outcome) };
  }
  return { status: 'completed', error: null };
}

/** What began before a restart may have an answer of people that nobody has read, also where the time of the run is over. */
const mayBeAnswered = ({ inFlight }: ActiveRun, { name }: Step, { why }: Stopped): boolean =>
  why !== 'cancelled' && inFlight.has(name);

/** Consequences that say less than `barred`; any other stays. */
const GOES_ON: ReadonlySet<string> = new Set(['next', 'failed']);

/** A run whose evaluations take too long twice has no use for its other steps, whatever `on_failure` says. */
const barred = ({ name }: Step): RunOutcome => ({
  status: 'failed',
  error: { step: name, message: 'compute_limit: two evaluations of this run took too long or too much memory' },
});

/** The end of a run that was stopped between its steps, or before the first. */
export const afterStop = ({ why, message }: { why: string; message: string }): RunOutcome => ({
  status: why === 'cancelled' ? 'cancelled' : 'failed',
  error: { step: null, message },
});

function consequence(step: Step, { status }: StepOutcome): 'next' | TerminalRunStatus {
  if (status === 'failed' && policyOf(step) === 'continue') return 'next';
  return STEP_CONSEQUENCE[status];
}

const runError = (step: Step, { error }: StepOutcome): RunError => ({
  step: step.name,
  message: error?.message ?? 'ended',
});
