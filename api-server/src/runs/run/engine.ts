import { getHeapStatistics } from 'node:v8';
import { activate } from './activate.ts';
import type { ActiveRun, Slot } from '../state/active-run.ts';
import { stopReason, Stopped, TakenOver } from '../state/stopped.ts';
import { noteCutFields } from '../state/field-sizes.ts';
import { heldBytes } from '../state/held.ts';
import type { Capacity } from './capacity.ts';
import { finish, flush, giveUp, type EndingDeps } from './ending.ts';
import { enterConcurrencyGroup, concurrencyGroupOf, type ConcurrencyGroups } from './concurrency-groups.ts';
import { isTerminal, type RunStatus } from '../state/model.ts';
import type { NewRun } from '../state/new-run.ts';
import { restore, type InterruptedRun } from './resume.ts';
import { createPromptRoom } from '../state/prompt-room.ts';
import { runDeadline } from './run-deadline.ts';
import { runSequence, type RunOutcome } from './sequence.ts';
import type { StepDeps } from '../step/step.ts';
import { createStartQueue } from './start-queue.ts';
import type { TraceRun } from '../state/span.ts';
import { createSubRuns, type SubRunDeps, type SubRuns } from './sub-run.ts';

export interface EngineDeps
  extends
    Omit<EndingDeps, 'turn' | 'now' | 'delay'>,
    Pick<SubRunDeps, 'pipelineNamed' | 'mayCall' | 'readOutcome' | 'enterShared'> {
  step: Omit<StepDeps, 'flush' | 'prompts'>;
  readInterrupted(): Promise<InterruptedRun[]>;
  /** Asks another process that shares the database to cancel a run; false where it has ended. Absent where none can. */
  cancelElsewhere?(runId: string, by: string): Promise<boolean>;
  /** What is stored of a run that is not active here. */
  readStatus(runId: string): Promise<string | null>;
  capacity: Capacity;
  concurrencyGroups: ConcurrencyGroups;
  /** Runs what a run is made of. */
  sequence(step: StepDeps, run: ActiveRun): Promise<RunOutcome>;
  /** Begins the trace of a run; absent where nothing is traced. */
  traceRun?: TraceRun;
}

type Cancelled = 'cancelled' | 'not_found' | 'ended';

export interface Engine {
  begin(run: NewRun, state: 'running' | 'queued'): void;
  /** Whether the runs of this process hold so much memory that it takes no further ones. */
  isFull(): boolean;
  /** Resumes the runs that an earlier process left; resolves with their number once all have started. */
  resume(): Promise<number>;
  /** Takes up runs that were stored before; one that this process still has goes first. */
  takeUp(runs: InterruptedRun[]): Promise<void>;
  /** Stops all runs where they are and stores nothing: another process has taken them over, or will. */
  stopRuns(): Promise<void>;
  cancel(runId: string, by: string): Promise<Cancelled>;
  runChild: SubRuns['run'];
  /** Waits for what executes to end, at most `milliseconds`; the rest, and what waits for people, stops where it is and is resumed at the next start. */
  drain(milliseconds: number): Promise<void>;
}

/** How long a cancellation waits for the stored end before it answers. */
const CANCEL_WAIT_MS = 5_000;

const CANCEL_LOOK_MS = 100;
const DRAIN_LOOK_MS = 100;

/** Of all runs that have not ended: what they put out lies outside of the heap, which work fills beside it. */
const MAX_HELD_BYTES = getHeapStatistics().heap_size_limit / 3;

/** Of the sub-runs of one run. */
const MAX_BYTES_BELOW = MAX_HELD_BYTES / 8;

interface Held {
  run: ActiveRun;
  ended: Promise<void>;
}

/** Everything that runs in this process, from the stored row to the stored end. */
export function createEngine(deps: EngineDeps): Engine {
  const held = new Map<string, Held>();
  let bytes = 0;
  const shutdown = new AbortController();
  const ending: EndingDeps = {
    ...deps,
    turn: deps.step.templates.turn,
    now: deps.step.now,
    delay: deps.step.delay,
  };
  const prompts = createPromptRoom(MAX_BYTES_BELOW);
  const stepDeps: StepDeps = { ...deps.step, prompts, flush: (run, writes) => flush(ending, run, writes) };

  const hold = (run: ActiveRun, work: (run: ActiveRun) => Promise<void>): Promise<void> => {
    const size = heldBytes(run.context);
    bytes += size;
    const ended = work(run)
      .catch((error: unknown) => giveUp(ending, run, error))
      .finally(() => {
        bytes -= size;
        held.delete(run.id);
      });
    held.set(run.id, { run, ended });
    // A run that begins after the drain is left to the next process.
    if (shutdown.signal.aborted) run.controller.abort(new Stopped('shutdown', 'the service stops'));
    return ended;
  };

  const execute = async (run: ActiveRun) => {
    using _ = runDeadline(run, deps.step.now());
    try {
      await finish(ending, run, await deps.sequence(stepDeps, run));
    } finally {
      run.slot.giveBack();
      if (run.concurrencyGroup) deps.concurrencyGroups.leave(run.concurrencyGroup, run.id);
    }
  };

  /** Waits for a slot first; a run that is cancelled meanwhile ends without one. `status` is what is stored of it. */
  const executeLater = async (run: ActiveRun, status: string) => {
    try {
      if (run.concurrencyGroup)
        await enterConcurrencyGroup({ concurrencyGroups: deps.concurrencyGroups, cancel }, run.concurrencyGroup, run);
      await run.slot.takeAgain(run.controller.signal);
    } catch {
      if (run.concurrencyGroup) deps.concurrencyGroups.leave(run.concurrencyGroup, run.id);
      const stopped = stopReason(run.controller.signal) as Stopped;
      if (stopped.why === 'shutdown') throw stopped;
      return finish(ending, run, { status: 'cancelled', error: { step: null, message: stopped.message } });
    }
    if (status === 'queued') say(run, 'run_started', 'started');
    run.pending.push(deps.store.setLiveStatus(run.id, 'running'));
    return execute(run);
  };

  /** A run that is not active here: stored a moment ago and about to begin, of another process, or ended. */
  const cancelStored = async (runId: string, by: string): Promise<Cancelled> => {
    const stored = await deps.readStatus(runId);
    if (stored === null) return 'not_found';
    if (deps.cancelElsewhere ? !(await deps.cancelElsewhere(runId, by)) : isTerminal(stored as RunStatus))
      return 'ended';
    for (let waited = 0; waited < CANCEL_WAIT_MS; waited += CANCEL_LOOK_MS) {
      if (held.has(runId)) return cancel(runId, by);
      const status = await deps.readStatus(runId);
      if (status === 'cancelled') return 'cancelled';
      if (status === null || isTerminal(status as RunStatus)) return 'ended';
      await deps.step.delay(CANCEL_LOOK_MS, shutdown.signal);
    }
    return deps.cancelElsewhere ? 'cancelled' : 'ended';
  };

  const cancel = async (runId: string, by: string): Promise<Cancelled> => {
    const found = held.get(runId);
    if (!found) return cancelStored(runId, by);
    found.run.controller.abort(new Stopped('cancelled', `cancelled by ${by}`));
    // A database that accepts no writes delays the end, not the answer to the caller.
    await Promise.race([found.ended, deps.step.delay(CANCEL_WAIT_MS, shutdown.signal)]);
    const status = await deps.readStatus(runId);
    return status === 'cancelled' || held.has(runId) ? 'cancelled' : 'ended';
  };

  const subRuns = createSubRuns({
    ...deps,
    cancel,
    ...ending,
    hub: deps.hub,
    hold,
    maxBytesBelow: MAX_BYTES_BELOW,
    execute: (run) => runSequence(stepDeps, run),
    templates: deps.step.templates,
  });

  /** Takes up a run of its own; true when it goes on. */
  const resumeOne = (stored: InterruptedRun): boolean => {
    const restored = restore(deps.hub, stored, {
      now: deps.step.now(),
      slot: slotOf(deps.capacity, false),
      parent: null,
      // A place in a concurrency group that processes share was taken with the claim.
      concurrencyGroup: deps.enterShared ? null : concurrencyGroupOf(deps.step.templates, stored),
    });
    traced(deps, restored.run);
    const work = restored.go
      ? (run: ActiveRun) => takeUp(deps, ending, run, stored.status).then(() => executeLater(run, stored.status))
      : (run: ActiveRun) => finish(ending, run, restored.outcome);
    void hold(restored.run, work);
    return restored.go;
  };

  /** A sub-run whose parent is not resumed is cancelled. */
  const endOrphan = (stored: InterruptedRun) => {
    const place = { now: deps.step.now(), slot: slotOf(deps.capacity, false), parent: null, concurrencyGroup: null };
    const error = { step: null, message: 'its parent run has ended' };
    void hold(restore(deps.hub, stored, place).run, (run) => finish(ending, run, { status: 'cancelled', error }));
  };

  const takeUpAll = async (found: InterruptedRun[]) => {
    await Promise.all(found.flatMap(({ id }) => held.get(id)?.ended ?? []));
    const going = new Set<string>();
    // Parents come before their children: they are older.
    for (const stored of found) {
      const { id, parentRunId } = stored;
      if (parentRunId === null ? resumeOne(stored) : going.has(parentRunId)) going.add(id);
      else if (parentRunId !== null) endOrphan(stored);
    }
    subRuns.remember(found.filter(({ id, parentRunId }) => parentRunId !== null && going.has(id)));
  };

  const stopRuns = async (why: Stopped) => {
    for (const { run } of held.values()) run.controller.abort(why);
    await Promise.allSettled([...held.values()].map(({ ended }) => ended));
  };

  /** A run that waits for a person holds no slot; the decision may take long. */
  const nothingExecutes = async () => {
    while (deps.capacity.active() > 0 && !shutdown.signal.aborted)
      await deps.step.delay(DRAIN_LOOK_MS, shutdown.signal);
  };

  const startQueue = createStartQueue({ now: deps.step.now, nextTurn: setImmediate });
  const executeSoon = async (run: ActiveRun) => {
    await startQueue.turn();
    return execute(run);
  };

  return {
    begin: (fresh, state) => {
      const run = activate(deps.hub, fresh, {
        slot: slotOf(deps.capacity, state === 'running'),
        parent: null,
        concurrencyGroup: fresh.concurrencyGroup,
      });
      traced(deps, run);
      if (state === 'queued') {
        if (mustWait(deps, run)) say(run, 'run_queued', 'is queued');
        void hold(run, () => executeLater(run, state));
      } else {
        say(run, 'run_started', 'started');
        void hold(run, executeSoon);
      }
    },
    // What steps put out is compressed too, outside of the heap, where what is in use can be read.
    isFull: () =>
      Math.max(bytes + prompts.chars() + deps.hub.chars(), getHeapStatistics().external_memory) > MAX_HELD_BYTES,
    resume: async () => {
      const found = await deps.readInterrupted();
      await takeUpAll(found);
      return found.filter(({ parentRunId }) => parentRunId === null).length;
    },
    takeUp: takeUpAll,
    stopRuns: () => stopRuns(new TakenOver()),
    cancel,
    runChild: subRuns.run,
    drain: async (milliseconds) => {
      const all = () => Promise.allSettled([...held.values()].map(({ ended }) => ended));
      await Promise.race([all(), nothingExecutes(), deps.step.delay(milliseconds, shutdown.signal)]);
      const stopping = stopRuns(new Stopped('shutdown', 'the service stops'));
      shutdown.abort();
      await stopping;
    },
  };
}

/** Gives a run its trace before anything happens to it. */
function traced({ traceRun }: Pick<EngineDeps, 'traceRun'>, run: ActiveRun): void {
  if (traceRun) run.span = traceRun(run);
}

/** A slot of the process's capacity, held from the start or not. Giving back twice gives back once. */
function slotOf(capacity: Capacity, heldNow: boolean): Slot {
  let holds = heldNow;
  return {
    giveBack: () => {
      if (holds) capacity.release();
      holds = false;
    },
    takeAgain: async (signal) => {
      if (holds) return;
      await capacity.take(signal);
      holds = true;
    },
  };
}

/** Whether a run has to wait for a slot, or for a place in its concurrency group, which it takes here where there is one. */
function mustWait({ capacity, concurrencyGroups }: EngineDeps, { id, concurrencyGroup }: ActiveRun): boolean {
  const isFull = capacity.waiting() > 0 || capacity.active() >= capacity.max;
  return isFull || (concurrencyGroup !== null && !concurrencyGroups.tryTake(concurrencyGroup, id));
}

function say(run: ActiveRun, event: string, word: string): void {
  const { journal, pipeline, context } = run;
  const said = { pipeline: pipeline.name, source: context.source };
  journal.add('info', event, `run of ${pipeline.name} ${word}`, said);
  if (event === 'run_started') noteCutFields(run);
}

/** Notes a resumed run before it goes on. */
async function takeUp(deps: EngineDeps, ending: EndingDeps, run: ActiveRun, status: string): Promise<void> {
  if (status === 'queued') return;
  run.journal.add('warn', 'run_resumed', 'the run was resumed after a restart');
  if (run.stage === 'production') {
    run.pending.push(deps.store.addCounters([{ metric: 'runs_resumed_total', labels: [run.pipeline.name], value: 1 }]));
  }
  await flush(ending, run, [deps.store.setLiveStatus(run.id, 'interrupted')]);
}
