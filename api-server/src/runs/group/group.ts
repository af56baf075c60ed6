import { plainAnswer } from '../state/step-kind.ts';
import { createRest } from '@signalbox/crds/process/rest';
import type { FanOutStep, ParallelStep, Step } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { StepView } from '../state/step-results.ts';
import { withDeadline } from '../state/deadline.ts';
import { stopReason } from '../state/stopped.ts';
import type { Failure } from '../state/executor.ts';
import { confidenceAlone, gate } from '../evidence/gate.ts';
import { branchOutputs, leftOutWarnings } from './branch-outputs.ts';
import { decidedBy, join, type JoinStrategy, type Vote } from './join.ts';
import type { RawResponse, StepError, StepExecution, StepStatus, TrustReport } from '../state/model.ts';
import { heldView } from '../state/held.ts';
import { holdSlot, type Part, shareSlot } from '../state/shared-slot.ts';
import type { Span } from '../state/span.ts';
import { runStep, type StepDeps, type StepOutcome } from '../step/step.ts';
import { endedStep, startedStep, type StepOf } from '../evidence/step-execution.ts';
import { addWarnings } from '../evidence/warnings.ts';
import type { StepContext } from '../state/step-context.ts';

/** An entry of several branches, as the engine sees it. */
export interface Group {
  run: ActiveRun;
  step: ParallelStep | FanOutStep;
  index: number;
  executor: 'parallel' | 'fan_out';
  join: JoinStrategy;
  raw: RawResponse | null;
}

export interface Branch {
  ctx: Omit<StepContext, 'signal' | 'slot'>;
  weight: number;
}

export interface BegunGroup extends Group {
  row: StepExecution;
  span: Span;
}

/** A group as a step of its run; it has no agent of its own. */
export const stepOfGroup = ({
  run,
  step,
  index,
  executor,
}: Pick<Group, 'run' | 'index' | 'executor'> & { step: Pick<Step, 'name'> }): StepOf => ({
  run,
  name: step.name,
  stepIndex: index,
  kind: executor,
  executor,
  agent: null,
});

/** Stores the row of the group before any branch begins; a resumed group has its row already. */
export async function beginGroup(deps: StepDeps, group: Group, branches: number): Promise<BegunGroup> {
  const begun = noteBegin(deps, group, branches);
  await deps.flush(group.run, [deps.store.insertStep(begun.row)]);
  return begun;
}

function noteBegin(deps: StepDeps, group: Group, branches: number): BegunGroup {
  const { run, step, executor, raw } = group;
  const earlier = run.inFlight.get(step.name);
  const at = earlier?.startedAt ?? deps.now();
  const prepared = { model: null, promptHash: null, raw };
  const beginning = { id: earlier?.id ?? deps.newId(at), at, attempt: 1, prepared, status: 'running' as const };
  const row = startedStep(stepOfGroup(group), beginning);
  const span = run.span.child(`${executor}: ${step.name}`, {
    'service.span.kind': executor,
    'service.step.name': step.name,
    'service.join_strategy': group.join,
    'service.branch_count': branches,
  });
  const word = earlier ? 'resumed' : 'started';
  run.journal.add('info', earlier ? 'step_resumed' : 'step_started', `${step.name} ${word}`, {
    step_name: step.name,
    executor,
  });
  return { ...group, row, span };
}

/** Why branches ended as they did, by their names; those that ended before a restart are not in it. */
export type BranchErrors = ReadonlyMap<string, StepError>;

/**
 * Runs the branches, at most `limit` at a time, and fewer where the run works on many already, within the group's own time. Ended ones of an
 * earlier start do not run again.
 */
export async function runBranches(
  deps: StepDeps,
  { run, step }: BegunGroup,
  branches: Branch[],
  limit: number,
): Promise<BranchErrors> {
  const errors = new Map<string, StepError>();
  const { timeout_seconds: seconds } = step;
  using deadline = withDeadline({
    after: seconds === undefined ? undefined : seconds * 1000,
    why: 'step_timeout',
    message: `the group took longer than ${seconds} s`,
    follows: run.controller.signal,
  });
  const { signal } = deadline;
  const shared = shareSlot(run.slot);
  const waiting = branches.filter(({ ctx }) => !run.results.has(ctx.name));
  const workers = deps.prompts.takeWorkers(run, Math.min(limit, waiting.length));
  const worker = async ({ slot, leave }: Part) => {
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        if (signal.aborted && !mayHaveAsked(run, next, signal)) continue;
        await holdSlot(slot, signal);
        const { error } = await runStep(deps, { ...next.ctx, signal, slot });
        if (error) errors.set(next.ctx.name, error);
        await deps.flush(run, []);
      }
    } finally {
      leave();
      workers.leave();
    }
  };
  const rest = createRest();
  const ended: Promise<PromiseSettledResult<void>[]>[] = [];
  // A branch may have long to prepare, and other requests do not wait for all of them.
  for (const part of Array.from({ length: workers.count }, shared.join)) {
    ended.push(Promise.allSettled([worker(part)]));
    await rest();
  }
  const surprise = (await Promise.all(ended)).flat().find(({ status }) => status === 'rejected');
  if (surprise?.status === 'rejected') throw surprise.reason;
  return errors;
}

/** In a branch that began before a restart is an answer, perhaps, that nobody has read. */
const mayHaveAsked = (run: ActiveRun, { ctx }: Branch, signal: AbortSignal): boolean =>
  run.inFlight.has(ctx.name) && stopReason(signal)?.why !== 'shutdown';

/** Ends of a branch that end its group, the most severe first. */
const ENDS_GROUP: readonly Exclude<StepStatus, 'running'>[] = ['cancelled', 'aborted', 'escalated', 'stopped'];

const why = (error: StepError | undefined): string => (error === undefined ? '' : `: ${error.message}`);

function firstOf(errors: BranchErrors): string {
  const [first] = errors;
  return first === undefined ? '' : `; ${first[0]}${why(first[1])}`;
}

/** Joins what the branches brought and compares it with the group's threshold. */
export function endGroup(deps: StepDeps, group: BegunGroup, branches: Branch[], errors: BranchErrors): StepOutcome {
  const { run } = group;
  const stopped = stopReason(run.controller.signal);
  if (stopped?.why === 'shutdown') throw stopped;
  if (stopped?.why === 'cancelled') {
    return closeGroup(deps, group, {
      status: 'cancelled',
      error: { type: 'cancelled', message: stopped.message },
      trust: null,
    });
  }
  const results = branches.map(({ ctx, weight }) => ({ name: ctx.name, weight, view: run.results.get(ctx.name) }));
  const worst = ENDS_GROUP.find((status) => results.some(({ view }) => view?.status === status));
  if (worst) {
    const branch = results.find(({ view }) => view?.status === worst)?.name ?? '';
    return closeGroup(deps, group, {
      status: worst,
      error: { type: 'branch', message: `branch ${branch} was ${worst}${why(errors.get(branch))}` },
      trust: null,
    });
  }
  // A branch that did not start before the group's timeout has failed.
  const hasFailed = (view: StepView | undefined) => view === undefined || view.status === 'failed';
  const ran = results.filter(({ view }) => view?.status !== 'skipped');
  if (ran.length > 0 && ran.every(({ view }) => hasFailed(view))) {
    return closeGroup(deps, group, {
      status: 'failed',
      error: { type: 'branch', message: `all branches failed${firstOf(errors)}` },
      trust: null,
    });
  }
  const votes = results.map(({ name, view, weight }): Vote => ({
    name,
    trust: view?.trust ?? null,
    failed: hasFailed(view),
    weight,
  }));
  return judge(deps, group, votes);
}

const AFTER_GATE = { pass: 'completed', proceed: 'completed', escalate: 'escalated', abort: 'aborted' } as const;

function judge(deps: StepDeps, group: BegunGroup, votes: readonly Vote[]): StepOutcome {
  const { step } = group;
  const trust = join(group.join, votes);
  const report = gate(confidenceAlone(trust), {
    threshold: step.confidence_threshold,
    onLow: step.on_low_confidence,
    confidenceOf: decidedBy(group.join, votes),
  });
  const status = AFTER_GATE[report.action];
  const error = status === 'completed' ? null : { type: 'gate', message: report.sentence };
  return closeGroup(deps, group, { status, error, trust, report });
}

interface Closing {
  status: Exclude<StepStatus, 'running'>;
  error: StepError | null;
  trust: number | null;
  report?: TrustReport;
}

const LEVELS: Partial<Record<StepStatus, 'info' | 'error'>> = { completed: 'info', skipped: 'info', failed: 'error' };

/** Notes the end of a group and gives its write. Its branches count in the metrics, it does not. */
export function closeGroup(deps: StepDeps, group: BegunGroup, { status, error, trust, report }: Closing): StepOutcome {
  const { run, step, row } = group;
  const output = { branches: branchOutputs(run, step.name, step) };
  const warnings = leftOutWarnings(run, step.name, output.branches);
  const view = { status, summary: null, confidence: trust, trust, output, next_step_context: null };
  run.results.set(step.name, heldView(view));
  deps.answers.note(run, step.name);
  if (report && report.passed !== null) Object.assign(run, { trust: report.trust, threshold: report.threshold });
  const message = error ? `${step.name} ${status}: ${error.message}` : `${step.name} ${status}`;
  const threshold = report ? report.threshold : null;
  run.journal.add(LEVELS[status] ?? 'warn', `step_${status}`, message, { step_name: step.name, trust, threshold });
  const answer = plainAnswer({ confidence: trust, summary: null, output });
  const ending = addWarnings(run, { status, error, report, answer, evidence: confidenceAlone(trust) }, warnings);
  const ended = endedStep({ row, attempt: 1, costs: [], facts: null }, ending, run.results.endAt(deps.now()));
  run.pending.push(deps.store.endStep(ended));
  group.span.end({ 'service.confidence': trust, 'service.step.status': status }, status === 'failed' ? 'failed' : null);
  return { status, error };
}

/** A group that cannot begin because its condition or its list is wrong: it is stored with its end. */
export async function failGroup(deps: StepDeps, group: Group, failure: Failure): Promise<StepOutcome> {
  const begun = noteBegin(deps, group, 0);
  await deps.flush(group.run, []);
  group.run.pending.push(deps.store.insertStep(begun.row));
  const ends = group.run.inFlight.has(group.step.name) ? await deps.unapproved(group.run, begun.row) : null;
  return closeGroup(deps, begun, {
    status: ends ?? 'failed',
    error: { type: failure.type, message: failure.message },
    trust: null,
  });
}
