import type { ActiveRun } from '../state/active-run.ts';
import { REPLAY_SOURCES } from '../state/replay.ts';
import { untilAnswered } from '../state/until-answered.ts';
import { type RunOutcome, runSequence } from '../run/sequence.ts';
import type { StepDeps } from '../step/step.ts';
import { runBatch } from './batch.ts';
import type { ReplayDeps } from './replay-deps.ts';

const SOURCES: ReadonlySet<string> = new Set(REPLAY_SOURCES);

/** Runs what a run is made of: its pipeline's entries, or the samples of a batch. A sender may call its source `replay`, too. */
export const replaySequence =
  (replay: ReplayDeps) =>
  async (step: StepDeps, run: ActiveRun): Promise<RunOutcome> => {
    if (!SOURCES.has(run.context.source)) return runSequence(step, run);
    const patient =
      <A extends unknown[], T>(read: (...args: A) => Promise<T>) =>
      (...args: A) =>
        untilAnswered(step, run, () => read(...args));
    const batch = await patient(replay.readBatch)(run.id);
    if (batch === null) return runSequence(step, run);
    const reads = {
      readExecution: patient(replay.readExecution),
      readRecorded: patient(replay.readRecorded),
      readStep: patient(replay.readStep),
    };
    return runBatch({ step, replay: { ...replay, ...reads } }, run, batch);
  };
