import type { ExecutorStep } from '@signalbox/crds';
import type { Failure } from './executor.ts';
import { stopReason, type Stopped, type ActiveRun } from './active-run.ts';
import { gate, type Evidence, type GateRule } from './gate.ts';
import type { StepStatus } from './model.ts';
import type { StepStore, Write } from './records.ts';
import { retryDelay } from './retry.ts';
import { runValues } from './run-values.ts';
import { stepClock, type StepClock } from './step-clock.ts';
import type { Attempt, Performed, Prepared, StepKind } from './step-kind.ts';
import { endCounters, endRecord, startRecord, type Begun, type Ending, type Site, type StepError } from './step-rows.ts';
import type { Texts } from './texts.ts';

export interface StepDeps {
  kinds: ReadonlyMap<string, StepKind>;
  texts: Texts;
  store: StepStore;
  /** Writes what the run has pending and these, durably; waits through a full disk. */
  flush(run: ActiveRun, writes: Write[]): Promise<void>;
  now(): number;
  newId(now: number): string;
  /** Resolves false when the signal aborts first. */
  delay(milliseconds: number, signal: AbortSignal): Promise<boolean>;
}

/** How a step ended; `writes` are its row and roll-ups, for the transaction of the caller's choice. */
export interface StepOutcome {
  status: Exclude<StepStatus, 'running'>;
  error: StepError | null;
  writes: Write[];
}

/** Runs one executor step from `when` to the gate (Design 3). Throws `Stopped` for a shutdown, and for nothing else that is expected. */
export async function runStep(deps: StepDeps, site: Site): Promise<StepOutcome> {
  const condition = evaluateWhen(deps, site);
  if (condition === 'skip') return skipped(deps, site);
  const kind = deps.kinds.get(site.step.executor);
  if (!kind) throw new Error(`no executor is named ${site.step.executor}`);
  const earlier = site.run.inFlight.get(site.step.name)?.rawResponse ?? null;
  const prepared = condition === 'run' ? kind.prepare(site.run, site.step, earlier) : condition;
  const begun = await begin(deps, site, prepared.ok ? prepared : null);
  return prepared.ok ? attempts(deps, begun, prepared) : failed(deps, begun, prepared);
}

const expressionFailed = (msg: string): Failure => ({
  ok: false,
  type: 'expression_failed',
  message: `when: ${msg}`,
  retryable: false,
});

function evaluateWhen({ texts, now }: StepDeps, { run, step }: Site): 'run' | 'skip' | Failure {
  if (step.when === undefined) return 'run';
  const compiled = texts.expression(step.when);
  if (!compiled.ok) return expressionFailed(compiled.msg);
  const result = compiled.expression.evaluate(runValues(run, now()));
  if (result.ok) return result.value === true ? 'run' : 'skip';
  if (result.reason !== 'missing') return expressionFailed(result.msg);
  const message = `when names a value that is not there: ${result.msg}`;
  run.journal.add('warn', 'expression_missing_value', message, { step_name: step.name });
  return 'skip';
}

/** Stores the row before anything is sent; a resumed step has its row already and keeps its id, start and attempt. */
async function begin(deps: StepDeps, site: Site, prepared: Prepared | null): Promise<Begun> {
  const { run, step } = site;
  const earlier = run.inFlight.get(step.name);
  const at = earlier?.startedAt ?? deps.now();
  const attempt = earlier?.attempts ?? 1;
  const row = startRecord(site, { id: earlier?.id ?? deps.newId(at), at, attempt, prepared, status: 'running' });
  const [event, message] = earlier ? ['step_resumed', `${step.name} goes on`] : ['step_started', `${step.name} started`];
  run.journal.add('info', event, message, { step_name: step.name, executor: step.executor, agent: row.agent });
  await deps.flush(run, [deps.store.insertStep(row)]);
  return { ...site, row, attempt };
}

/** Asks until an attempt works, none is left or the step's time is over: `timeout_seconds` covers all attempts. */
async function attempts(deps: StepDeps, begun: Begun, prepared: Prepared): Promise<StepOutcome> {
  const clock = stepClock(begun.run.controller.signal, begun.step.timeout_seconds ?? 300, deps.now);
  try {
    for (;;) {
      const performed = await attempt(begun, prepared, clock);
      const stopped = stopReason(clock.signal);
      if (stopped) return interrupted(deps, begun, stopped);
      if (performed.ok) return answered(deps, begun, performed);
      const wait = performed.retryable ? retryDelay(retryPolicy(begun.step), begun.attempt) : null;
      if (wait === null) return failed(deps, begun, performed);
      await backOff(deps, begun, { failure: performed, wait, signal: clock.signal });
    }
  } finally {
    clock.stop();
  }
}

const retryPolicy = (step: ExecutorStep) => ('retry' in step ? step.retry : undefined);

async function attempt({ run, step, attempt: number }: Begun, prepared: Prepared, clock: StepClock): Promise<Performed> {
  const call: Attempt = {
    idempotencyKey: `${run.id}/${step.name}/1/${number}`,
    timeoutMs: clock.left(),
    signal: clock.signal,
  };
  if (clock.signal.aborted) return { ok: false, type: 'cancelled', message: 'stopped', retryable: false };
  return prepared.perform(call);
}

interface Setback {
  failure: Failure;
  wait: number;
  signal: AbortSignal;
}

async function backOff(deps: StepDeps, begun: Begun, { failure, wait, signal }: Setback): Promise<void> {
  const { run, step } = begun;
  const delayMs = Math.max(wait, failure.retryAfterMs ?? 0);
  const message = `attempt ${begun.attempt} failed (${failure.type}: ${failure.message}); next in ${delayMs / 1000} s`;
  run.journal.add('warn', 'step_retry', message, { step_name: step.name, attempt: begun.attempt, delay_ms: delayMs });
  begun.attempt += 1;
  await deps.flush(run, [deps.store.countAttempt(begun.row.id, begun.attempt)]);
  await deps.delay(delayMs, signal);
}

function interrupted(deps: StepDeps, begun: Begun, stopped: Stopped): StepOutcome {
  switch (stopped.why) {
    case 'shutdown':
      throw stopped;
    case 'cancelled':
      return ended(deps, begun, { status: 'cancelled', error: { type: 'cancelled', message: stopped.message } });
    case 'run_timeout':
    case 'step_timeout':
      return ended(deps, begun, { status: 'failed', error: { type: 'timeout', message: stopped.message } });
    default:
      return stopped.why satisfies never;
  }
}

function failed(deps: StepDeps, begun: Begun, failure: Failure | Extract<Performed, { ok: false }>): StepOutcome {
  const facts = 'facts' in failure ? failure.facts : undefined;
  return ended(deps, begun, { status: 'failed', error: { type: failure.type, message: failure.message }, facts });
}

const AFTER_GATE = { pass: 'completed', proceed: 'completed', escalate: 'escalated', abort: 'aborted' } as const;

function answered(deps: StepDeps, begun: Begun, { answer, facts }: Extract<Performed, { ok: true }>): StepOutcome {
  const evidence: Evidence = {
    confidence: answer.confidence,
    verifier: null,
    calibrated: null,
    grounding: null,
    checksPassed: null,
  };
  const report = gate(evidence, gateRule(begun.step));
  const known = { facts, answer, evidence, report };
  if (!answer.proceed) {
    const message = answer.proceedReason ?? 'the agent answered proceed: false';
    return ended(deps, begun, { status: 'stopped', error: { type: 'stopped', message }, ...known });
  }
  const status = AFTER_GATE[report.action];
  const error = status === 'completed' ? null : { type: 'gate', message: report.sentence };
  return ended(deps, begun, { status, error, ...known });
}

function gateRule(step: ExecutorStep): GateRule | null {
  if (!('confidence_threshold' in step)) return null;
  return { threshold: step.confidence_threshold, onLow: step.on_low_confidence };
}

/** Notes the end in the run and gives the writes of the row with its roll-ups. */
function ended(deps: StepDeps, begun: Begun, ending: Ending): StepOutcome {
  const completedAt = deps.now();
  noteResult(begun, ending);
  noteEvent(begun, ending);
  const row = deps.store.endStep(endRecord(begun, ending, completedAt));
  const counters = deps.store.addCounters(endCounters(begun, ending, completedAt));
  return { status: ending.status, error: ending.error, writes: [row, counters] };
}

function noteResult({ run, step }: Begun, { status, facts, answer, report }: Ending): void {
  run.results.set(step.name, {
    status,
    summary: answer?.summary ?? null,
    confidence: answer?.confidence ?? null,
    trust: report?.trust ?? null,
    output: answer?.output ?? {},
    next_step_context: answer?.nextStepContext ?? null,
  });
  if (report && report.passed !== null) {
    run.trust = report.trust;
    run.threshold = report.threshold;
  }
  const used = (facts?.inputTokens ?? null) !== null || (facts?.outputTokens ?? null) !== null;
  run.totals.inputTokens += facts?.inputTokens ?? 0;
  run.totals.outputTokens += facts?.outputTokens ?? 0;
  run.totals.unpricedSteps += used ? 1 : 0;
}

const LEVELS = { completed: 'info', failed: 'error', stopped: 'warn', escalated: 'warn', aborted: 'warn', cancelled: 'warn' } as const;

function noteEvent({ run, step }: Begun, { status, error, answer, report }: Ending): void {
  const message = error ? `${step.name} ${status}: ${error.message}` : `${step.name} completed`;
  run.journal.add(LEVELS[status], `step_${status}`, message, {
    step_name: step.name,
    confidence: answer?.confidence ?? null,
    trust: report?.trust ?? null,
    threshold: report?.threshold ?? null,
    ...(error ? { error_type: error.type } : {}),
  });
}

function skipped(deps: StepDeps, site: Site): StepOutcome {
  const { run, step } = site;
  const at = deps.now();
  run.results.set(step.name, { status: 'skipped', summary: null, confidence: null, trust: null, output: {}, next_step_context: null });
  run.journal.add('info', 'step_skipped', `${step.name} skipped: its condition does not hold`, { step_name: step.name });
  const row = startRecord(site, { id: deps.newId(at), at, attempt: 0, prepared: null, status: 'skipped' });
  return { status: 'skipped', error: null, writes: [deps.store.insertStep(row)] };
}
