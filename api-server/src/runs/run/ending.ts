import type { ActiveRun } from '../state/active-run.ts';
import { Stopped } from '../state/stopped.ts';
import { untilAnswered } from '../state/until-answered.ts';
import type { EventHub } from '../state/events.ts';
import type { EndedRunRecord, RunWrites, Write } from '../state/records.ts';
import { runCounters } from '../state/rollups.ts';
import type { RunOutcome } from './sequence.ts';

export interface EndingDeps {
  store: RunWrites;
  /** One durable transaction; rejects with `unavailable` when nothing was stored, and with `Stopped` where another process has the run. */
  persist(run: Pick<ActiveRun, 'owner'>, writes: Write[]): Promise<void>;
  /** Further writes of the transaction that ends a run, such as its notifications. */
  endWrites(run: ActiveRun, outcome: Pick<RunOutcome, 'status' | 'error'>): Write[];
  hub: EventHub;
  /** Whether messages about the end are in the words of an author, which are rendered. */
  isToldInTexts?(run: ActiveRun, outcome: Pick<RunOutcome, 'status' | 'error'>): boolean;
  /** For the texts of notifications: hundreds of runs may end in one moment. */
  turn(run: ActiveRun): Promise<void>;
  now(): number;
  delay(milliseconds: number, signal: AbortSignal): Promise<boolean>;
  log: { error(fields: object, msg: string): void };
}

/** Age in milliseconds up to which a run's log waits for its end; a crash before that loses those lines and nothing else. */
const LOG_WAITS_MS = 1_000;

/**
 * Stores what waits and `writes`, in one transaction, with the run's log when it is due; tries again until the database
 * takes it or the service stops.
 */
export async function flush(deps: EndingDeps, run: ActiveRun, writes: Write[], ending = false): Promise<void> {
  // The mark and the writes are taken together: an end is published by the transaction that stores its row.
  const mark = run.journal.mark();
  const all = [...run.pending.splice(0), ...writes];
  const logged = logDue(deps, run, ending) ? logWrite(deps, run) : null;
  if (logged) all.push(logged);
  await untilAnswered(deps, run, () => deps.persist(run, all));
  run.journal.stored(mark);
}

/** The log of a run that is over in a moment is written once, at its end; any other's a moment after it grew. */
function logDue(deps: EndingDeps, run: ActiveRun, ending: boolean): boolean {
  const due = ending || deps.now() - run.triggeredAt > LOG_WAITS_MS;
  if (due) clearTimeout(run.log.timer);
  else run.log.timer ??= setTimeout(() => void writeLog(deps, run), LOG_WAITS_MS);
  return due;
}

function logWrite(deps: EndingDeps, run: ActiveRun): Write | null {
  const events = run.journal.take();
  return events ? deps.store.appendEvents(run.id, events) : null;
}

/** A log that cannot be stored now waits for the next write of its run. */
async function writeLog(deps: EndingDeps, run: ActiveRun): Promise<void> {
  const write = logWrite(deps, run);
  if (write) await deps.persist(run, [write]).catch(() => run.pending.push(write));
}

const endOf = (run: ActiveRun, { status, error }: RunOutcome, completedAt: number): EndedRunRecord => ({
  id: run.id,
  status,
  completed_at: completedAt,
  error_step: error?.step ?? null,
  error_message: error?.message ?? null,
  trust: run.trust,
  threshold: run.threshold,
  input_tokens: run.totals.inputTokens,
  output_tokens: run.totals.outputTokens,
  cost: run.totals.cost,
  unpriced_steps: run.totals.unpricedSteps,
  warning_count: run.totals.warningCount,
  pipeline_name: run.pipeline.name,
  stage: run.stage,
  team: run.team,
  triggered_at: run.triggeredAt,
  parent_run_id: run.parent?.id ?? null,
  rerun_of: run.rerunOf,
});

/** Stores the end of a run with everything that belongs to it, then publishes it. */
export async function finish(deps: EndingDeps, run: ActiveRun, outcome: RunOutcome): Promise<void> {
  const { status, error } = outcome;
  // One that completes does so with the last of its steps, in no time where nothing is rendered; others may be stopped together.
  if (status !== 'completed' || run.parent || deps.isToldInTexts?.(run, outcome)) await deps.turn(run);
  const completedAt = deps.now();
  const level = status === 'completed' ? 'info' : status === 'failed' ? 'error' : 'warn';
  run.journal.add(level, `run_${status}`, error ? `run ${status}: ${error.message}` : `run ${status}`, {
    status,
    pipeline: run.pipeline.name,
    duration_seconds: (completedAt - run.triggeredAt) / 1000,
  });
  const end = deps.store.endRun(endOf(run, outcome, completedAt));
  const counters = deps.store.addCounters(runCounters({ stage: run.stage, pipeline: run.pipeline.name, status }));
  await flush(deps, run, [end, counters, ...deps.endWrites(run, outcome)], true);
  deps.hub.close(run.id, status);
  run.span.end({ 'service.run.status': status }, status === 'failed' ? 'failed' : null);
}

/** A shutdown leaves the run for the next start; any other error is internal and fails the run. */
export async function giveUp(deps: EndingDeps, run: ActiveRun, error: unknown): Promise<void> {
  clearTimeout(run.log.timer);
  if (error instanceof Stopped && error.why === 'shutdown') {
    await writeLog(deps, run);
    run.span.end({}, 'shutdown');
    return deps.hub.drop(run.id);
  }
  deps.log.error({ run_id: run.id, err: error }, 'run failed by an internal error');
  const message = 'an internal error ended the run; the service log has the details';
  try {
    await finish(deps, run, { status: 'failed', error: { step: null, message } });
  } catch (second) {
    deps.log.error({ run_id: run.id, err: second }, 'the end of a run could not be stored');
    run.span.end({}, 'internal');
    deps.hub.drop(run.id);
  }
}
