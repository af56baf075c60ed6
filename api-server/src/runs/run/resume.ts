import type { Pipeline } from '@signalbox/crds';
import type { ActiveRun, Slot, Spent } from '../state/active-run.ts';
import type { EventHub } from '../state/events.ts';
import type { ConcurrencyGroup } from '../state/concurrency-group.ts';
import { spentWithBelow } from '../cost/budget.ts';
import { addBelow, spentBy } from '../cost/cost.ts';
import { chargedOfAll } from '../state/charged.ts';
import { heldContext } from '../state/held.ts';
import { NO_SPAN } from '../state/span.ts';
import { StepResults } from '../state/step-results.ts';
import { depthUnder } from './activate.ts';
import type { PromptRoom } from '../state/prompt-room.ts';
import type { AnswerRoom } from '../step/answer-room.ts';
import { stepView } from './step-view.ts';
import type { RunError, RunEvent, RunStatus, Stage, StepExecution, TriggerContext } from '../state/model.ts';

/** A run that had not ended when its process did. */
export interface Interrupted {
  id: string;
  /** Set for sub-runs, which their parents take up. */
  parentRunId: string | null;
  read(): Promise<InterruptedRun>;
}

/** What the store has of it. */
export interface InterruptedRun {
  id: string;
  parentRunId: string | null;
  /** The epoch of the replica that has the run; null where the database is not shared. */
  owner: number | null;
  status: RunStatus;
  /** The resolved body the run began with. */
  pipeline: Pipeline;
  context: TriggerContext;
  team: string | null;
  namespace: string | null;
  stage: Stage;
  triggeredAt: number;
  rerunOf: string | null;
  /** In the order of their end. */
  steps: StepExecution[];
  events: RunEvent[];
  /** Of sub-runs that have ended, and theirs. */
  below: Spent;
}

export interface Taking {
  now: number;
  slot: Slot;
  concurrencyGroup: ConcurrencyGroup | null;
  parent: ActiveRun | null;
}

export type Restored =
  | { go: true; run: ActiveRun }
  | { go: false; run: ActiveRun; outcome: { status: 'escalated' | 'failed'; error: RunError } };

/** Rebuilds a run from its rows: ended steps are not asked again, one in flight is, unless `durable` says escalate. */
export function restore(
  hub: EventHub,
  stored: InterruptedRun,
  { now, slot, concurrencyGroup, parent }: Taking,
): Restored {
  const run = { ...rebuild(hub, stored), slot, depth: depthUnder(parent), concurrencyGroup, parent };
  addBelow(parent, spentWithBelow(run));
  const reason = stored.status === 'queued' ? null : reasonToEscalate(run, now);
  if (reason === null) return { go: true, run };
  return { go: false, run, outcome: { status: 'escalated', error: { step: null, message: reason } } };
}

const NO_ROOM =
  'the service started with no room in memory for the answers and lists of this run beside those of its sub-runs and of the other runs of its namespace; start it again, or give the service more memory';

interface Rooms {
  answers: AnswerRoom;
  prompts: PromptRoom;
}

/** Counts what a run holds that goes on; one for whose answers, or list, there is no room ends. */
export function withRoom({ answers, prompts }: Rooms, restored: Restored): Restored {
  const { run } = restored;
  if (!restored.go || (answers.restore(run) && prompts.restore(run))) return restored;
  letGo(run);
  return { go: false, run, outcome: { status: 'failed', error: { step: null, message: NO_ROOM } } };
}

/** Forgets the texts of a run that ends at once; the questions of its steps are still to be closed. */
export function letGo({ results, inFlight }: ActiveRun): void {
  results.clear();
  for (const [name, step] of inFlight) inFlight.set(name, { ...step, rawResponse: null });
}

/** An approval stays open through a restart, and a group counts as interrupted only by its branches. */
const NOT_INTERRUPTED = new Set<string>(['human', 'parallel', 'fan_out']);

function reasonToEscalate({ pipeline, inFlight, triggeredAt }: ActiveRun, now: number): string | null {
  const { on_interrupted, max_resume_age_seconds: maxAge } = pipeline.durable;
  if (maxAge !== undefined && now - triggeredAt > maxAge * 1000) {
    return `interrupted by a restart and older than ${maxAge} s (durable.max_resume_age_seconds)`;
  }
  const interrupted = [...inFlight.values()].find(({ executor }) => !NOT_INTERRUPTED.has(executor))?.stepName;
  if (on_interrupted === 'escalate' && interrupted !== undefined) {
    return `step ${interrupted} was interrupted by a restart (durable.on_interrupted: escalate)`;
  }
  return null;
}

function rebuild(
  hub: EventHub,
  stored: InterruptedRun,
): Omit<ActiveRun, 'slot' | 'depth' | 'concurrencyGroup' | 'parent'> {
  const ended = stored.steps.filter(({ status }) => status !== 'running');
  const inFlight = stored.steps.filter(({ status }) => status === 'running');
  const gated = ended.findLast(
    ({ kind, trustReport, rawResponse }) =>
      !kind.endsWith('branch') && !rawResponse?.loaded && trustReport !== null && trustReport.passed !== null,
  );
  const results = new StepResults(ended.map((step) => [step.stepName, stepView(step)] as const));
  for (const { completedAt } of ended) results.endAt(completedAt ?? 0);
  return {
    id: stored.id,
    pipeline: stored.pipeline,
    context: heldContext(stored.context),
    team: stored.team,
    namespace: stored.namespace,
    stage: stored.stage,
    triggeredAt: stored.triggeredAt,
    owner: stored.owner,
    rerunOf: stored.rerunOf,
    controller: new AbortController(),
    journal: hub.open(stored.id, stored.events),
    results,
    inFlight: new Map(inFlight.map((step) => [step.stepName, step])),
    pending: [],
    totals: spentBy(stored.steps),
    answers: { size: chargedOfAll(ended), kept: new Map() },
    below: stored.below,
    blanks: new Map(),
    log: {},
    span: NO_SPAN,
    trust: gated?.trustReport?.trust ?? null,
    threshold: gated?.trustReport?.threshold ?? null,
  };
}
