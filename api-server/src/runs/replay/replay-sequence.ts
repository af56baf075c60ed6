import type { ActiveRun } from '../state/active-run.ts';
import { REPLAY_SOURCES } from '../state/replay.ts';
import { type RunOutcome, runSequence } from '../run/sequence.ts';
import type { StepDeps } from '../step/step.ts';
import { runBatch } from './batch.ts';
import type { ReplayDeps } from './replay-deps.ts';

const SOURCES: ReadonlySet<string> = new Set(REPLAY_SOURCES);

/** Runs what a run is made of: its pipeline's entries, or the samples of a batch. A sender may call its source `replay`, too. */
export const replaySequence =
  (replay: ReplayDeps) =>
  async (step: StepDeps, run: ActiveRun): Promise<RunOutcome> => {
    const batch = SOURCES.has(run.context.source) ? await replay.readBatch(run.id) : null;
    return batch ? runBatch({ step, replay }, run, batch) : runSequence(step, run);
  };
