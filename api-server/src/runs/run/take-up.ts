import type { ActiveRun } from '../state/active-run.ts';
import { stopReason } from '../state/stopped.ts';
import { untilAnswered } from '../state/until-answered.ts';
import { type Capacity, slotOf } from './capacity.ts';
import { concurrencyGroupOf } from './concurrency-groups.ts';
import { finish, flush, type EndingDeps } from './ending.ts';
import { type Interrupted, type InterruptedRun, letGo, restore, withRoom } from './resume.ts';
import type { SubRunDeps, SubRuns } from './sub-run.ts';

export interface TakeUpDeps extends SubRunDeps {
  capacity: Capacity;
  subRuns: SubRuns;
  /** The end of a run that this process has. */
  endOf(runId: string): Promise<void> | undefined;
  /** Waits for a slot first. `status` is what is stored of the run. */
  executeLater(run: ActiveRun, status: string): Promise<void>;
  /** Stops all that is read. */
  shutdown: AbortController;
}

export interface TakeUp {
  /** Goes on with runs that an earlier process left, or another one; their sub-runs wait for the steps that ask for them. */
  takeUpAll(found: Interrupted[]): Promise<void>;
  /** Ends those below a run that has ended without asking for them. */
  endBelow(run: ActiveRun): void;
}

export function createTakeUp(deps: TakeUpDeps): TakeUp {
  const placeOf = (stored: InterruptedRun | null) => ({
    now: deps.now(),
    slot: slotOf(deps.capacity, false),
    parent: null,
    // A place in a concurrency group that processes share was taken with the claim.
    concurrencyGroup: deps.enterShared || !stored ? null : concurrencyGroupOf(deps.templates, stored),
  });

  const resumeOne = (stored: InterruptedRun): void => {
    const { status } = stored;
    const restored = withRoom(deps, restore(deps.hub, stored, placeOf(stored)));
    if (deps.traceRun) restored.run.span = deps.traceRun(restored.run);
    const work = restored.go
      ? (run: ActiveRun) => noteResumed(deps, run, status).then(() => deps.executeLater(run, status))
      : (run: ActiveRun) => finish(deps, run, restored.outcome);
    void deps.hold(restored.run, work);
  };

  const endOrphan = (stored: InterruptedRun): void => {
    const error = { step: null, message: 'its parent run has ended' };
    const { run } = restore(deps.hub, stored, placeOf(null));
    letGo(run);
    void deps.hold(run, () => finish(deps, run, { status: 'cancelled', error }));
  };

  return {
    takeUpAll: async (found) => {
      await Promise.all(found.flatMap(({ id }) => deps.endOf(id) ?? []));
      const ids = new Set(found.map(({ id }) => id));
      const isBelow = ({ parentRunId }: Interrupted) => parentRunId !== null && ids.has(parentRunId);
      deps.subRuns.remember(found.filter(isBelow));
      for (const interrupted of found) {
        if (isBelow(interrupted)) continue;
        const stored = await untilAnswered(deps, { controller: deps.shutdown }, interrupted.read);
        if (stored.parentRunId === null) resumeOne(stored);
        else endOrphan(stored);
      }
    },
    endBelow: (run) => {
      const orphans = deps.subRuns.forget(run.id);
      if (stopReason(run.controller.signal)?.why === 'shutdown') return;
      for (const { id, read } of orphans) {
        untilAnswered(deps, run, read)
          .then(endOrphan)
          .catch((error: unknown) =>
            deps.log.error({ run_id: id, err: error }, 'a sub-run whose parent has ended could not be ended'),
          );
      }
    },
  };
}

/** Notes a resumed run before it goes on. */
async function noteResumed(deps: EndingDeps, run: ActiveRun, status: string): Promise<void> {
  if (status === 'queued') return;
  run.journal.add('warn', 'run_resumed', 'the run was resumed after a restart');
  if (run.stage === 'production') {
    run.pending.push(deps.store.addCounters([{ metric: 'runs_resumed_total', labels: [run.pipeline.name], value: 1 }]));
  }
  await flush(deps, run, [deps.store.setLiveStatus(run.id, 'interrupted')]);
}
