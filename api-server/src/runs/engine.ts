import { AppError, type Pipeline } from '@signalbox/crds';
import { stopReason, Stopped, type ActiveRun } from './active-run.ts';
import type { Capacity } from './capacity.ts';
import type { EventHub } from './events.ts';
import type { RunEvent, TerminalRunStatus } from './model.ts';
import type { NewRun } from './new-run.ts';
import type { Counter, RunEndRecord, Write } from './records.ts';
import { restore, type InterruptedRun } from './resume.ts';
import { runCounters } from './rollups.ts';
import { runSequence, type RunOutcome } from './sequence.ts';
import type { StepDeps } from './step.ts';

export interface EngineDeps {
  step: Omit<StepDeps, 'flush'>;
  store: {
    endRun(row: RunEndRecord): Write;
    setLiveStatus(id: string, status: 'running' | 'interrupted'): Write;
    appendEvents(runId: string, events: RunEvent[]): Write;
    addCounters(counters: Counter[]): Write;
  };
  /** One durable transaction; rejects with `unavailable` when nothing was stored. */
  persist(writes: Write[]): Promise<void>;
  readInterrupted(): Promise<InterruptedRun[]>;
  /** What is stored of a run that is not active here. */
  readStatus(runId: string): Promise<string | null>;
  capacity: Capacity;
  hub: EventHub;
  log: { info(fields: object, msg: string): void; error(fields: object, msg: string): void };
}

export interface Engine {
  begin(run: NewRun, state: 'running' | 'queued'): void;
  /** Takes up what an earlier process left; resolves with the number once all are on their way. */
  resume(): Promise<number>;
  cancel(runId: string, by: string): Promise<'cancelled' | 'not_found' | 'ended'>;
  /** Waits for runs to end, at most `milliseconds`; the rest stop where they are and are resumed at the next start. */
  drain(milliseconds: number): Promise<void>;
}

/** Pause between tries to store something while the database refuses. */
const STORE_RETRY_MS = 500;

interface Held {
  run: ActiveRun;
  ended: Promise<void>;
}

/** Everything that runs in this process, from the stored row to the stored end (Design 1, "alert"). */
export function createEngine(deps: EngineDeps): Engine {
  const held = new Map<string, Held>();
  const shutdown = new AbortController();
  const stepDeps: StepDeps = { ...deps.step, flush: (run, writes) => flush(deps, run, writes) };

  const hold = (run: ActiveRun, work: (run: ActiveRun) => Promise<void>) => {
    const ended = work(run)
      .catch((error: unknown) => giveUp(deps, run, error))
      .finally(() => held.delete(run.id));
    held.set(run.id, { run, ended });
  };

  const execute = async (run: ActiveRun) => {
    const timer = runTimer(run);
    try {
      const outcome = await runSequence(stepDeps, run);
      await finish(deps, run, outcome);
    } finally {
      clearTimeout(timer);
      deps.capacity.release();
    }
  };

  /** Waits for a slot first; a run that is cancelled meanwhile ends without one. */
  const executeLater = async (run: ActiveRun) => {
    try {
      await deps.capacity.take(run.controller.signal);
    } catch {
      const stopped = stopReason(run.controller.signal) as Stopped;
      if (stopped.why === 'shutdown') throw stopped;
      return finish(deps, run, { status: 'cancelled', error: { step: null, message: stopped.message }, writes: [] });
    }
    run.pending.push(deps.store.setLiveStatus(run.id, 'running'));
    return execute(run);
  };

  return {
    begin: (fresh, state) => {
      const run = activate(deps.hub, fresh);
      const word = state === 'queued' ? 'queued until a slot is free' : 'started';
      run.journal.add('info', `run_${state === 'queued' ? 'queued' : 'started'}`, `run of ${fresh.pipeline.name} ${word}`, {
        pipeline: fresh.pipeline.name,
        source: fresh.context.source,
      });
      hold(run, state === 'queued' ? executeLater : execute);
    },

    resume: async () => {
      const found = await deps.readInterrupted();
      for (const stored of found) {
        const restored = restore(deps.hub, stored, deps.step.now());
        if (restored.go) hold(restored.run, (run) => takeUp(deps, run, stored).then(() => executeLater(run)));
        else hold(restored.run, (run) => finish(deps, run, { ...restored.outcome, writes: [] }));
      }
      return found.length;
    },

    cancel: async (runId, by) => {
      const found = held.get(runId);
      if (!found) return (await deps.readStatus(runId)) === null ? 'not_found' : 'ended';
      found.run.controller.abort(new Stopped('cancelled', `cancelled by ${by}`));
      await found.ended;
      return (await deps.readStatus(runId)) === 'cancelled' ? 'cancelled' : 'ended';
    },

    drain: async (milliseconds) => {
      const all = () => Promise.allSettled([...held.values()].map(({ ended }) => ended));
      await Promise.race([all(), deps.step.delay(milliseconds, shutdown.signal)]);
      for (const { run } of held.values()) run.controller.abort(new Stopped('shutdown', 'the service stops'));
      shutdown.abort();
      await all();
    },
  };
}

function activate(hub: EventHub, fresh: NewRun): ActiveRun {
  return {
    id: fresh.id,
    pipeline: fresh.pipeline.config,
    context: fresh.context,
    team: fresh.team,
    stage: fresh.stage,
    triggeredAt: fresh.triggeredAt,
    controller: new AbortController(),
    journal: hub.open(fresh.id, []),
    results: new Map(),
    inFlight: new Map(),
    pending: [],
    totals: { inputTokens: 0, outputTokens: 0, unpricedSteps: 0 },
    trust: null,
    threshold: null,
  };
}

function runTimer({ pipeline, controller }: ActiveRun): NodeJS.Timeout | undefined {
  const { timeout_seconds: seconds } = pipeline satisfies Pipeline;
  if (seconds === undefined) return undefined;
  const expire = () => controller.abort(new Stopped('run_timeout', `the run took longer than ${seconds} s`));
  return setTimeout(expire, seconds * 1000);
}

/** Notes a resumed run before it goes on. */
async function takeUp(deps: EngineDeps, run: ActiveRun, { status }: InterruptedRun): Promise<void> {
  if (status === 'queued') return;
  run.journal.add('warn', 'run_resumed', 'the run goes on after a restart');
  if (run.stage === 'production') {
    run.pending.push(deps.store.addCounters([{ metric: 'runs_resumed_total', labels: [run.pipeline.name], value: 1 }]));
  }
  await flush(deps, run, [deps.store.setLiveStatus(run.id, 'interrupted')]);
}

/** Stores what waits and `writes`, in one transaction; tries again until the database takes it or the service stops. */
async function flush(deps: EngineDeps, run: ActiveRun, writes: Write[]): Promise<void> {
  const events = run.journal.take();
  const all = [...run.pending.splice(0), ...writes];
  if (events.length > 0) all.push(deps.store.appendEvents(run.id, events));
  for (;;) {
    try {
      return await deps.persist(all);
    } catch (error) {
      if (!(error instanceof AppError) || error.type !== 'unavailable') throw error;
      const stopped = stopReason(run.controller.signal);
      if (stopped?.why === 'shutdown') throw stopped;
      await deps.step.delay(STORE_RETRY_MS, new AbortController().signal);
    }
  }
}

async function finish(deps: EngineDeps, run: ActiveRun, { status, error, writes }: RunOutcome): Promise<void> {
  const completedAt = deps.step.now();
  const level = status === 'completed' ? 'info' : status === 'failed' ? 'error' : 'warn';
  run.journal.add(level, `run_${status}`, error ? `run ${status}: ${error.message}` : `run ${status}`, { status });
  const end = deps.store.endRun({
    id: run.id,
    status,
    completed_at: completedAt,
    error_step: error?.step ?? null,
    error_message: error?.message ?? null,
    trust: run.trust,
    threshold: run.threshold,
    input_tokens: run.totals.inputTokens,
    output_tokens: run.totals.outputTokens,
    cost: null,
    unpriced_steps: run.totals.unpricedSteps,
  });
  const counters = deps.store.addCounters(runCounters({ stage: run.stage, pipeline: run.pipeline.name, status }));
  await flush(deps, run, [...writes, end, counters]);
  deps.hub.close(run.id, status satisfies TerminalRunStatus);
  const seconds = (completedAt - run.triggeredAt) / 1000;
  deps.log.info({ run_id: run.id, pipeline: run.pipeline.name, status, duration_seconds: seconds }, 'run ended');
}

/** A shutdown leaves the run for the next start; anything else is a fault of ours, and the run says so. */
async function giveUp(deps: EngineDeps, run: ActiveRun, error: unknown): Promise<void> {
  if (error instanceof Stopped && error.why === 'shutdown') return deps.hub.drop(run.id);
  deps.log.error({ run_id: run.id, err: error }, 'run failed by an internal error');
  const message = 'an internal error ended the run; the service log has the details';
  try {
    await finish(deps, run, { status: 'failed', error: { step: null, message }, writes: [] });
  } catch (second) {
    deps.log.error({ run_id: run.id, err: second }, 'the end of a run could not be stored');
    deps.hub.drop(run.id);
  }
}
