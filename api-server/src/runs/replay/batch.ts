import type { ActiveRun } from '../state/active-run.ts';
import type { ReplayBatch, ReplaySample } from '../state/replay.ts';
import type { AuthorHttp } from '../state/executor.ts';
import { stopReason } from '../state/stopped.ts';
import type { RunOutcome } from '../run/sequence.ts';
import type { StepDeps } from '../step/step.ts';
import { replayChain } from './chain.ts';
import type { ReplayDeps } from './replay-deps.ts';
import { replaySample } from './sample.ts';

/** Candidates of one batch that run at the same time (Orchestration 4.6, rule 6). */
const WIDTH = 3;

/** Replays every sample that has no result yet; a batch that was interrupted goes on with the others. */
export async function runBatch(
  { step, replay }: { step: StepDeps; replay: ReplayDeps },
  run: ActiveRun,
  batch: ReplayBatch,
): Promise<RunOutcome> {
  const { signal } = run.controller;
  // A batch counts towards no namespace, and its definition is of the one that its pipeline has.
  const http: AuthorHttp = (call) => step.http({ ...call, namespace: undefined });
  const deps = { ...replay, step: { ...step, http, kinds: replay.kinds, backends: replay.backends } };
  const waiting = batch.samples.filter(({ reason }) => reason === null);
  const one = (sample: ReplaySample): Promise<void> =>
    batch.replay.kind === 'step'
      ? replaySample(deps, run, { replay: batch.replay, sample })
      : replayChain(deps, run, { replay: batch.replay, sample });
  const worker = async () => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) await one(next);
    // The begin of the next sample stores the end of the one before; after the last one nothing begins.
    if (!signal.aborted) await deps.step.flush(run, []);
  };
  const workers = await Promise.allSettled(Array.from({ length: WIDTH }, worker));
  const surprise = workers.find(({ status }) => status === 'rejected');
  if (surprise?.status === 'rejected') throw surprise.reason;
  const stopped = stopReason(signal);
  if (stopped?.why === 'shutdown') throw stopped;
  if (stopped) return { status: 'cancelled', error: { step: null, message: stopped.message } };
  return { status: 'completed', error: null };
}
