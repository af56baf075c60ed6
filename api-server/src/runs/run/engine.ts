import { getHeapStatistics } from 'node:v8';
import { activate } from './activate.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { stopReason, Stopped, TakenOver } from '../state/stopped.ts';
import { noteCutFields } from '../state/field-sizes.ts';
import { heldBytes } from '../state/held.ts';
import { createHeldDefinitions } from '../state/held-definitions.ts';
import { type Capacity, slotOf } from './capacity.ts';
import { finish, flush, giveUp, type EndingDeps } from './ending.ts';
import { enterConcurrencyGroup, type ConcurrencyGroups } from './concurrency-groups.ts';
import { isTerminal, type RunStatus } from '../state/model.ts';
import type { NewRun } from '../state/new-run.ts';
import type { Interrupted } from './resume.ts';
import type { DailyBytes } from '../state/daily-bytes.ts';
import { createPromptRoom } from '../state/prompt-room.ts';
import { runDeadline } from './run-deadline.ts';
import { runSequence, type RunOutcome } from './sequence.ts';
import { createShares, type Holding } from '../state/shares.ts';
import { createAnswerRoom } from '../step/answer-room.ts';
import type { StepDeps } from '../step/step.ts';
import { createStartQueue } from './start-queue.ts';
import { createTakeUp } from './take-up.ts';
import type { TraceRun } from '../state/span.ts';
import { createSubRuns, type SubRunDeps, type SubRuns } from './sub-run.ts';

export interface EngineDeps
  extends
    Omit<EndingDeps, 'turn' | 'now' | 'delay'>,
    Pick<SubRunDeps, 'pipelineNamed' | 'mayCall' | 'definitionBytes' | 'readOutcome' | 'enterShared'> {
  step: Omit<StepDeps, 'flush' | 'prompts' | 'answers'>;
  readInterrupted(): Promise<Interrupted[]>;
  dailyBytes: DailyBytes;
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
  /** Whether the runs of this process, or those of a namespace, hold so much memory, with what is about to begin, that it takes no further ones; null for the operator. */
  isFull(namespace: string | null, also?: Holding): boolean;
  /** Resumes the runs that an earlier process left; resolves with their number once all have started. */
  resume(): Promise<number>;
  /** Takes up runs that were stored before; one that this process still has goes first. */
  takeUp(runs: Interrupted[]): Promise<void>;
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

/** Of all runs that have not ended, and once more for what they put out: that lies outside of the heap, which work fills beside it. */
const MAX_HELD_BYTES = getHeapStatistics().heap_size_limit / 3;

/** Of one run and its sub-runs. */
const MAX_OF_RUN = MAX_HELD_BYTES / 8;

/** What a run of the operator and its sub-runs put out. */
const MAX_ANSWERS_OF_OPERATOR = MAX_HELD_BYTES / 2;

interface Held {
  run: ActiveRun;
  ended: Promise<void>;
}

/** Everything that runs in this process, from the stored row to the stored end. */
export function createEngine(deps: EngineDeps): Engine {
  const held = new Map<string, Held>();
  const memory = createShares(MAX_OF_RUN);
  const definitions = createHeldDefinitions(memory);
  const shutdown = new AbortController();
  const ending: EndingDeps = {
    ...deps,
    turn: deps.step.templates.turn,
    now: deps.step.now,
    delay: deps.step.delay,
  };
  const prompts = createPromptRoom(memory, deps.dailyBytes);
  const answers = createAnswerRoom(MAX_OF_RUN, MAX_ANSWERS_OF_OPERATOR, deps.dailyBytes);
  const stepDeps: StepDeps = { ...deps.step, prompts, answers, flush: (run, writes) => flush(ending, run, writes) };

  const hold = (run: ActiveRun, work: (run: ActiveRun) => Promise<void>): Promise<void> => {
    // A sub-run is counted before it is stored.
    const size = run.parent === null ? heldBytes(run.context) : 0;
    memory.add(run, size);
    definitions.hold(run);
    const ended = work(run)
      .catch((error: unknown) => giveUp(ending, run, error))
      .finally(() => {
        memory.add(run, -size);
        definitions.drop(run);
        answers.drop(run);
        prompts.drop(run);
        held.delete(run.id);
        takeUp.endBelow(run);
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
        await enterConcurrencyGroup(
          { ...ending, concurrencyGroups: deps.concurrencyGroups, cancel },
          run.concurrencyGroup,
          run,
        );
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

  const subRunDeps: SubRunDeps = {
    ...deps,
    cancel,
    ...ending,
    hub: deps.hub,
    hold,
    answers,
    prompts,
    memory,
    execute: (run) => runSequence(stepDeps, run),
    templates: deps.step.templates,
  };
  const subRuns = createSubRuns(subRunDeps);
  const takeUp = createTakeUp({
    ...subRunDeps,
    capacity: deps.capacity,
    subRuns,
    endOf: (runId) => held.get(runId)?.ended,
    executeLater,
    shutdown,
  });

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
      // What a rerun took over.
      for (const name of run.results.keys()) answers.note(run, name);
      traced(deps, run);
      if (state === 'queued') {
        if (mustWait(deps, run)) say(run, 'run_queued', 'is queued');
        void hold(run, () => executeLater(run, state));
      } else {
        say(run, 'run_started', 'started');
        void hold(run, executeSoon);
      }
    },
    isFull: (namespace, also) =>
      memory.all() + (also?.all ?? 0) + deps.hub.chars() > MAX_HELD_BYTES ||
      memory.isFull(namespace, also) ||
      answers.isFull(namespace),
    resume: async () => {
      const found = await deps.readInterrupted();
      await takeUp.takeUpAll(found);
      return found.filter(({ parentRunId }) => parentRunId === null).length;
    },
    takeUp: takeUp.takeUpAll,
    stopRuns: () => stopRuns(new TakenOver()),
    cancel,
    runChild: subRuns.run,
    drain: async (milliseconds) => {
      const all = () => Promise.allSettled([...held.values()].map(({ ended }) => ended));
      await Promise.race([all(), nothingExecutes(), deps.step.delay(milliseconds, shutdown.signal)]);
      const stops = new Stopped('shutdown', 'the service stops');
      const stopping = stopRuns(stops);
      shutdown.abort(stops);
      await stopping;
    },
  };
}

/** Gives a run its trace before anything happens to it. */
function traced({ traceRun }: Pick<EngineDeps, 'traceRun'>, run: ActiveRun): void {
  if (traceRun) run.span = traceRun(run);
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
