import type { ActiveRun } from '../state/active-run.ts';
import type { ConcurrencyGroup } from '../state/concurrency-group.ts';
import { holdSlot } from '../state/shared-slot.ts';
import { stopReason } from '../state/stopped.ts';
import { untilAnswered } from '../state/until-answered.ts';
import { enterConcurrencyGroup, type Joining } from './concurrency-groups.ts';
import type { EndingDeps } from './ending.ts';
import { afterStop, type RunOutcome } from './sequence.ts';

export interface InGroupDeps extends Joining {
  delay: EndingDeps['delay'];
  execute(run: ActiveRun): Promise<RunOutcome>;
  /** One try to enter a concurrency group that several processes share; throws `Stopped` where another process has the run. */
  enterShared?(run: ActiveRun, concurrencyGroup: ConcurrencyGroup): Promise<boolean>;
}

/** One that had its place before a restart may have asked people. */
const hasBegun = ({ inFlight, results }: ActiveRun): boolean => inFlight.size + results.size > 0;

const isRefused = ({ concurrencyGroups }: InGroupDeps, concurrencyGroup: ConcurrencyGroup, run: ActiveRun): boolean =>
  concurrencyGroup.onLimit === 'reject' && !hasBegun(run) && !concurrencyGroups.tryTake(concurrencyGroup, run.id);

/** Waits without a slot, which the run that has the place may need. One whose place that run took after a restart cancels nobody. */
async function waitForPlace(deps: InGroupDeps, concurrencyGroup: ConcurrencyGroup, run: ActiveRun): Promise<void> {
  if (deps.concurrencyGroups.tryTake(concurrencyGroup, run.id)) return;
  run.slot.giveBack();
  await enterConcurrencyGroup(deps, hasBegun(run) ? { ...concurrencyGroup, onLimit: 'queue' } : concurrencyGroup, run);
  await holdSlot(run.slot, run.controller.signal);
}

/** The limit of a pipeline holds for sub-runs too: `reject` fails them, the others wait. */
export async function inConcurrencyGroup(deps: InGroupDeps, run: ActiveRun): Promise<RunOutcome> {
  const { concurrencyGroup } = run;
  if (!concurrencyGroup) return deps.execute(run);
  if (deps.enterShared) return inSharedGroup(deps, run, concurrencyGroup);
  if (isRefused(deps, concurrencyGroup, run)) return groupFull(concurrencyGroup);
  try {
    await waitForPlace(deps, concurrencyGroup, run);
    return await deps.execute(run);
  } catch (error) {
    const stopped = stopReason(run.controller.signal);
    if (!stopped || error !== stopped || stopped.why === 'shutdown') throw error;
    return afterStop(stopped);
  } finally {
    deps.concurrencyGroups.leave(concurrencyGroup, run.id);
  }
}

const groupFull = ({ limit }: ConcurrencyGroup): RunOutcome => ({
  status: 'failed',
  error: { step: null, message: `${limit} runs of this pipeline are running already (concurrency.limit)` },
});

/** Between two looks for a place, the longer the longer it waits: each takes a lock. */
const LOOK_MS = 500;
const LONGEST_LOOK_MS = 5_000;

/** As `inConcurrencyGroup`, by what the store says; the place ends with the run. */
async function inSharedGroup(
  deps: InGroupDeps,
  run: ActiveRun,
  concurrencyGroup: ConcurrencyGroup,
): Promise<RunOutcome> {
  const { signal } = run.controller;
  for (let looks = 1; ; looks++) {
    if (await untilAnswered(deps, run, async () => deps.enterShared?.(run, concurrencyGroup))) {
      await holdSlot(run.slot, signal);
      return deps.execute(run);
    }
    if (concurrencyGroup.onLimit === 'reject') return groupFull(concurrencyGroup);
    run.slot.giveBack();
    await deps.delay(Math.min(LOOK_MS * looks, LONGEST_LOOK_MS), signal);
    const stopped = stopReason(signal);
    if (stopped?.why === 'shutdown') throw stopped;
    if (stopped) return afterStop(stopped);
  }
}
