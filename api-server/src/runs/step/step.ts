import { failure, type Failure } from '../state/executor.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { stopReason, type Stopped } from '../state/stopped.ts';
import { withDeadline } from '../state/deadline.ts';
import { overBudget } from '../cost/budget.ts';
import { gatherEvidence, type EvidenceDeps, type Gathered } from '../evidence/evidence.ts';
import { callFailureWebhook } from './failure-webhook.ts';
import { confidenceAlone, gate, type GateRule } from '../evidence/gate.ts';
import type { EndedStep, RawResponse, StepError, StepExecution, StepStatus, TrustReport } from '../state/model.ts';
import type { Counter, RunWrites, Write } from '../state/records.ts';
import { countUse, paidBefore } from './attempt-use.ts';
import { notePart, noteAttempt } from './step-times.ts';
import type { AnswerRoom } from './answer-room.ts';
import { prepare, toBegin } from './prepare.ts';
import { retryDelay } from './retry.ts';
import { endTime, noteEnd, noteIteration, noteSkip, shortOf } from './step-notes.ts';
import { endSpan, startSpan } from './step-span.ts';
import { holds, takeAnswer, type Taken } from './take-answer.ts';
import type { Answer, Performed, Prepared, StepKind } from '../state/step-kind.ts';
import {
  endCounters,
  endedStep,
  startedStep,
  stepOf,
  type Begun,
  type Ending,
  type MetricLabels,
} from '../evidence/step-execution.ts';
import type { AnyStep, StepContext } from '../state/step-context.ts';
import { goesOnAlone } from '../state/workers.ts';
import { withWarnings } from '../evidence/warnings.ts';
import { evaluateWhen } from '../prompt/when.ts';

export interface StepDeps extends EvidenceDeps, MetricLabels {
  kinds: ReadonlyMap<string, StepKind>;
  store: RunWrites;
  answers: AnswerRoom;
  /** Writes what the run has pending and these, durably; waits through a full disk. */
  flush(run: ActiveRun, writes: Write[]): Promise<void>;
  /** Keeps the artifacts of an ended step. */
  keepArtifacts(run: ActiveRun, stepName: string, templates: Record<string, string>): Promise<void>;
  /** How a step ends that failed though people rejected it, or did not answer; null for any other. */
  unapproved(run: ActiveRun, step: StepExecution): Promise<'aborted' | 'escalated' | null>;
  /** Hears of every step that ended. */
  noteUse(step: EndedStep): void;
  newId(now: number): string;
}

/** How a step ended; its row and roll-ups wait in `run.pending` for the run's next transaction. */
export interface StepOutcome {
  status: Exclude<StepStatus, 'running'>;
  error: StepError | null;
}

/** Runs one executor step from `when` to the gate. Throws `Stopped` for a shutdown, and for nothing else that is expected. */
export async function runStep(deps: StepDeps, ctx: StepContext): Promise<StepOutcome> {
  await othersFirst(deps, ctx.run);
  const condition = await evaluateWhen(deps, ctx, ctx.step.when);
  if (condition === 'skip') return skipped(deps, ctx);
  const known = condition === 'run' ? await prepare(deps, ctx) : condition;
  // A resumed one may have asked people already.
  const goesOn = ctx.run.inFlight.has(ctx.name);
  using held = deps.prompts.hold(ctx.run, { ...(known.ok ? known : { raw: null }), goesOn });
  const prepared = held.refused ?? known;
  const spent = overBudget(ctx.run);
  const begun = await begin(deps, ctx, toBegin(prepared, spent));
  if (!prepared.ok) return failed(deps, begun, prepared);
  if (spent !== null) return ended(deps, begun, { status: 'escalated', error: { type: 'budget', message: spent } });
  return await iterate(deps, begun, prepared);
}

/** What is large takes long to read, to measure and to store. */
const othersFirst = ({ templates }: StepDeps, run: ActiveRun) => (goesOnAlone(run) ? undefined : templates.turn(run));

/** Stores the row before anything is sent, or with its end where nothing is; a resumed step has its row already and keeps its id, start and attempt. */
async function begin(deps: StepDeps, ctx: StepContext, prepared: Prepared | null): Promise<Begun> {
  const { run, step, name } = ctx;
  const earlier = run.inFlight.get(name);
  const { id, at, attempt } = earlier
    ? { ...earlier, at: earlier.startedAt, attempt: earlier.attempts }
    : firstTime(deps);
  const row = startedStep(stepOf(ctx), { id, at, attempt, prepared, status: 'running' });
  const [event, message] = earlier ? ['step_resumed', `${name} resumed`] : ['step_started', `${name} started`];
  const span = startSpan(ctx, row);
  run.journal.add('info', event, message, { step_name: name, executor: step.executor, agent: row.agent });
  const start = [deps.store.insertStep(row), ...(prepared?.withStart?.(row) ?? [])];
  await deps.flush(run, prepared ? start.splice(0) : []);
  const sofar = { iteration: 1, costs: paidBefore(earlier), facts: null, parts: [] };
  const begun: Begun = { ...ctx, ...sofar, row, start, attempt, span };
  // A question to a person goes on while the service does not run.
  if (earlier && !prepared?.keepsTime) notePart(begun, 'before_restart', [at, deps.now()]);
  return begun;
}

function firstTime({ now, newId }: Pick<StepDeps, 'now' | 'newId'>) {
  const at = now();
  return { id: newId(at), at, attempt: 1 };
}

/** Time of a step that has no timeout, such as a sub-run, which has its own; a day in milliseconds. */
const NO_TIMEOUT_MS = 86_400_000;

/** Asks, and with `loop_until` asks again, while there is time: `timeout_seconds` covers all attempts and iterations. */
async function iterate(deps: StepDeps, begun: Begun, prepared: Prepared): Promise<StepOutcome> {
  const seconds = prepared.keepsTime ? undefined : begun.step.timeout_seconds;
  const after = seconds === undefined ? undefined : seconds * 1000;
  const message = `no answer within ${seconds} s, the timeout_seconds of the step`;
  using deadline = withDeadline({ after, why: 'step_timeout', message, follows: begun.signal });
  const { signal } = deadline;
  const ends = deps.now() + (after ?? NO_TIMEOUT_MS);
  let previous: Answer | null = null;
  const before: NonNullable<RawResponse['iterationsBefore']> = [];
  for (;;) {
    const performed = await attempts(deps, begun, { prepared, signal, ends, previous });
    const stopped = stopReason(performed.inTime ? begun.signal : signal);
    if (stopped && !holds(performed, stopped)) return await interrupted(deps, begun, stopped, performed);
    if (!performed.ok) return await failed(deps, begun, performed);
    if (!asksAgain(begun, performed.answer)) return await answered(deps, begun, { performed, before });
    before.push(shortOf(performed.answer));
    previous = performed.answer;
    begun.iteration += 1;
    noteIteration(begun, performed.answer);
  }
}

function asksAgain({ step, iteration, run }: Begun, { confidence, proceed }: Answer): boolean {
  const loop = 'loop_until' in step ? step.loop_until : undefined;
  if (!loop || confidence === null || !proceed || overBudget(run) !== null) return false;
  return confidence < loop.confidence && iteration < loop.max_iterations;
}

interface Asking {
  prepared: Prepared;
  signal: AbortSignal;
  /** When the step's time is over, in milliseconds. */
  ends: number;
  previous: Answer | null;
}

/** One iteration: asks until an attempt works, none is left or the time is over. */
async function attempts(deps: StepDeps, begun: Begun, { prepared, signal, ends, previous }: Asking): Promise<Taken> {
  for (;;) {
    const { run, name, iteration } = begun;
    if (signal.aborted && (!prepared.asks || stopReason(signal)?.why === 'shutdown'))
      return failure('cancelled', 'stopped');
    const startedAt = deps.now();
    const said = await prepared.perform({
      idempotencyKey: `${run.id}/${name}/${iteration}/${begun.attempt}`,
      iteration,
      previous,
      timeoutMs: Math.max(1, Math.round(ends - deps.now())),
      signal,
      waited: (part, ...times) => notePart(begun, part, times),
      span: begun.span,
      step: { id: begun.row.id, startedAt: begun.row.startedAt },
      hold: (question) => deps.prompts.hold(run, { raw: null, ...question }),
      store: (writes) => deps.flush(run, writes),
    });
    const performed = await takeAnswer(deps, begun, said, signal);
    noteAttempt(begun, performed, [startedAt, deps.now()], stopReason(signal));
    countUse(deps.priceOf, begun, performed);
    if (performed.ok || signal.aborted) return performed;
    const wait = performed.retryable ? retryDelay(retryPolicy(begun.step), begun.attempt) : null;
    if (wait === null) return performed;
    await backOff(deps, begun, { failure: performed, wait, signal });
  }
}

const retryPolicy = (step: AnyStep) => ('retry' in step ? step.retry : undefined);

interface Setback {
  failure: Failure;
  wait: number;
  signal: AbortSignal;
}

async function backOff(deps: StepDeps, begun: Begun, { failure, wait, signal }: Setback): Promise<void> {
  const { run, name } = begun;
  const delayMs = Math.max(wait, failure.retryAfterMs ?? 0);
  const message = `attempt ${begun.attempt} failed (${failure.type}: ${failure.message}); next in ${delayMs / 1000} s`;
  run.journal.add('warn', 'step_retry', message, { step_name: name, attempt: begun.attempt, delay_ms: delayMs });
  const pausedAt = deps.now();
  begun.attempt += 1;
  const raw = { ...begun.row.rawResponse, costs: begun.costs };
  await deps.flush(run, [deps.store.countAttempt(begun.row.id, begun.attempt, raw)]);
  await deps.delay(delayMs, signal);
  notePart(begun, 'pause', [pausedAt, deps.now()]);
}

/** Ends a step that was stopped from outside; `performed` is what it had come to by then. */
async function interrupted(
  deps: StepDeps,
  begun: Begun,
  stopped: Stopped,
  performed?: Performed,
): Promise<StepOutcome> {
  switch (stopped.why) {
    case 'shutdown':
      begun.span.end({}, 'shutdown');
      throw stopped;
    case 'cancelled':
      return ended(deps, begun, { status: 'cancelled', error: { type: 'cancelled', message: stopped.message } });
    case 'run_timeout':
    case 'step_timeout':
    case 'call_timeout':
      return failed(deps, begun, failure('timeout', stopped.message + unreached(performed)));
    default:
      return stopped.why satisfies never;
  }
}

/** Tells a slow backend from one that cannot be reached. */
const unreached = (performed: Performed | undefined): string =>
  performed?.ok === false && performed.type === 'unavailable' ? `: ${performed.message}` : '';

async function failed(deps: StepDeps, begun: Begun, failure: Extract<Performed, { ok: false }>): Promise<StepOutcome> {
  const error = { type: failure.type, message: failure.message };
  const ends = failure.ends ?? (await deps.unapproved(begun.run, begun.row));
  if (ends) return ended(deps, begun, { status: ends, error, ...weigh(failure.answer) });
  const called = await callFailureWebhook(deps, begun, error);
  if (called) notePart(begun, 'failure_webhook', called.times, called);
  return ended(deps, begun, { status: 'failed', error });
}

/** What was said by who refused counts as evidence too: no gate, a confidence. */
function weigh(answer: Answer | undefined): Pick<Ending, 'answer' | 'evidence' | 'report'> {
  if (!answer) return {};
  const evidence = confidenceAlone(answer.confidence);
  return { answer, evidence, report: gate(evidence, null) };
}

const AFTER_GATE = { pass: 'completed', proceed: 'completed', escalate: 'escalated', abort: 'aborted' } as const;

interface Answered {
  performed: Extract<Performed, { ok: true }>;
  /** Answers of earlier iterations. */
  before: NonNullable<RawResponse['iterationsBefore']>;
}

/** Evidence has times of its own: whoever answers just before the step's time is over is checked as everybody is. */
async function answered(deps: StepDeps, begun: Begun, { performed, before }: Answered): Promise<StepOutcome> {
  const { signal } = begun;
  const { answer, facts } = performed;
  if (answer.artifactTexts) await deps.keepArtifacts(begun.run, begun.name, answer.artifactTexts);
  const { verdict, counters, ...gathered } = await gatherEvidence(deps, begun, {
    answer,
    facts,
    raw: facts.raw,
    signal,
  });
  await othersFirst(deps, begun.run);
  const stopped = stopReason(signal);
  if (stopped) return interrupted(deps, begun, stopped);
  const report = gate(gathered.evidence, gateRule(begun));
  const raw = { ...gathered.raw, ...(before.length > 0 && { iterationsBefore: before }) };
  return ended(deps, begun, { ...endOf(verdict, answer, report), answer, report, ...gathered, raw }, counters);
}

function endOf(verdict: Gathered['verdict'], answer: Answer, report: TrustReport): Pick<Ending, 'status' | 'error'> {
  if (verdict) return { status: verdict.status, error: { type: 'evidence', message: verdict.message } };
  if (!answer.proceed) {
    const message = answer.proceedReason ?? 'the agent answered proceed: false';
    return { status: 'stopped', error: { type: 'stopped', message } };
  }
  const status = AFTER_GATE[report.action];
  return { status, error: status === 'completed' ? null : { type: 'gate', message: report.sentence } };
}

/** A branch is weighed in its group's join; its own threshold is evidence and acts on nothing. */
function gateRule({ step, kind }: Begun): GateRule | null {
  if (!('confidence_threshold' in step)) return null;
  return {
    threshold: step.confidence_threshold,
    onLow: kind === 'step' ? step.on_low_confidence : 'proceed',
    confidenceOf: step.executor === 'pipeline' ? 'the last gate of the sub-run' : "the agent's own confidence",
  };
}

/** Notes the end in the run and, without an await between, adds the writes of the row and its roll-ups. */
function ended(deps: StepDeps, begun: Begun, known: Ending, more: Counter[] = []): StepOutcome {
  const ending = withWarnings(begun, known);
  noteEnd(deps.answers, begun, ending);
  const step = endedStep(begun, ending, endTime(begun, deps.now()));
  const counters = deps.store.addCounters([...endCounters(begun, step, deps), ...more]);
  begun.run.pending.push(...begun.start, deps.store.endStep(step), counters);
  deps.noteUse(step);
  endSpan(begun, ending);
  return { status: ending.status, error: ending.error };
}

function skipped(deps: StepDeps, ctx: StepContext): StepOutcome {
  const at = deps.now();
  noteSkip(ctx.run, ctx.name);
  const row = startedStep(stepOf(ctx), { id: deps.newId(at), at, attempt: 0, prepared: null, status: 'skipped' });
  ctx.run.pending.push(deps.store.insertStep(row));
  return { status: 'skipped', error: null };
}
