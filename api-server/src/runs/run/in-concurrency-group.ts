import type { ActiveRun } from '../state/active-run.ts';
import type { ConcurrencyGroup } from '../state/concurrency-group.ts';
import { holdSlot } from '../state/shared-slot.ts';
import { stopReason } from '../state/stopped.ts';
import { untilAnswered } from '../state/until-answered.ts';
import { enterConcurrencyGroup, hasBegun, type Joining } from './concurrency-groups.ts';
import type { EndingDeps } from './ending.ts';
import { afterStop, type RunOutcome } from './sequence.ts';

export interface InGroupDeps extends Joining {
  delay: EndingDeps['delay'];
  execute(run: ActiveRun): Promise<RunOutcome>;
  /** One try to enter a concurrency group that several processes share; throws `Stopped` where another process has the run. */
  enterShared?(run: ActiveRun, concurrencyGroup: ConcurrencyGroup): Promise<boolean>;
}

const isRefused = ({ concurrencyGroups }: InGroupDeps, concurrencyGroup: ConcurrencyGroup, run: ActiveRun): boolean =>
  concurrencyGroup.onLimit === 'reject' && !hasBegun(run) && !concurrencyGroups.tryTake(concurrencyGroup, run.id);

/** Waits without a slot, which the run that has the place may need. */
async function waitForPlace(deps: InGroupDeps, concurrencyGroup: ConcurrencyGroup, run: ActiveRun): Promise<void> {
  if (deps.concurrencyGroups.tryTake(concurrencyGroup, run.id)) return;
  run.slot.giveBack();
  await enterConcurrencyGroup(deps, concurrencyGroup, run);
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

/** Between two looks for a place, the longer the longer it waits. */
const LOOK_MS = 500;
const LONGEST_LOOK_MS = 5_000;
/** Of the runs of a process that wait for a place, the first one looks: each look takes a lock that all processes share. */
const first = ({ key }: ConcurrencyGroup): ConcurrencyGroup => ({ key: `\n${key}`, limit: 1, onLimit: 'queue' });

/** As `inConcurrencyGroup`, by what the store says; the place ends with the run. */
async function inSharedGroup(
  deps: InGroupDeps,
  run: ActiveRun,
  concurrencyGroup: ConcurrencyGroup,
): Promise<RunOutcome> {
  const { signal } = run.controller;
  const look = () => untilAnswered(deps, run, async () => deps.enterShared?.(run, concurrencyGroup));
  if (!(await look())) {
    if (concurrencyGroup.onLimit === 'reject') return groupFull(concurrencyGroup);
    run.slot.giveBack();
    await waitForSharedPlace(deps, run, first(concurrencyGroup), look);
    const stopped = stopReason(signal);
    if (stopped?.why === 'shutdown') throw stopped;
    if (stopped) return afterStop(stopped);
  }
  await holdSlot(run.slot, signal);
  return deps.execute(run);
}

/** Until a look finds a place, or the run stops. */
async function waitForSharedPlace(
  { concurrencyGroups, delay }: InGroupDeps,
  { id, controller: { signal } }: ActiveRun,
  looking: ConcurrencyGroup,
  look: () => Promise<boolean | undefined>,
): Promise<void> {
  try {
    await concurrencyGroups.take(looking, id, signal, true);
    for (let looks = 0; !signal.aborted; looks++) {
      await delay(Math.min(LOOK_MS * looks, LONGEST_LOOK_MS), signal);
      if (!signal.aborted && (await look())) return;
    }
  } finally {
    concurrencyGroups.leave(looking, id);
  }
}
