import type { ExecutorStep, ItemStep } from '@signalbox/crds';
import type { ActiveRun } from './active-run.ts';
import { effectiveConfidence, type Evidence } from './gate.ts';
import type { CheckResult, RawResponse, StepKind as RowKind, StepStatus, TrustReport } from './model.ts';
import type { Counter, StepEndRecord, StepStartRecord } from './records.ts';
import { stepCounters } from './rollups.ts';
import { noFacts, type Answer, type CallFacts, type Prepared } from './step-kind.ts';

/** A step of any executor, whether it has a name of its own or is an item of a fan-out. */
export type AnyStep = ExecutorStep | ItemStep;

/** Where a step stands: its run, its definition, its name in this run, the index of its entry. */
export interface Site {
  run: ActiveRun;
  step: AnyStep;
  name: string;
  index: number;
  kind: Extract<RowKind, 'step' | 'branch' | 'fan_out_branch'>;
  /** Further names for templates and expressions, such as a fan-out's item. */
  locals: Readonly<Record<string, unknown>>;
}

/** A step whose row is stored. */
export interface Begun extends Site {
  row: StepStartRecord;
  attempt: number;
  iteration: number;
}

export interface StepError {
  type: string;
  message: string;
}

/** Everything known of a step at its end. */
export interface Ending {
  status: Exclude<StepStatus, 'running' | 'skipped'>;
  error: StepError | null;
  facts?: CallFacts;
  answer?: Answer;
  evidence?: Evidence;
  checks?: CheckResult[];
  report?: TrustReport;
  /** Second opinions and the like, added to what is kept of the call. */
  raw?: Partial<RawResponse>;
}

/** A group may also end as skipped. */
type EndingOfAny = Omit<Ending, 'status'> & { status: Exclude<StepStatus, 'running'> };

export interface Beginning {
  id: string;
  at: number;
  attempt: number;
  prepared: Prepared | null;
  status: 'running' | 'skipped';
}

/** The row of a step before it runs, or of one that never will. */
export function startRecord(
  { run, step, name, index, kind }: Site,
  { id, at, attempt, prepared, status }: Beginning,
): StepStartRecord {
  return {
    id,
    run_id: run.id,
    step_name: name,
    step_index: index,
    kind,
    executor: step.executor,
    agent: 'agent' in step ? step.agent : null,
    model: prepared?.model ?? null,
    provider: null,
    status,
    pipeline_name: run.pipeline.name,
    team: run.team,
    stage: run.stage,
    prompt_hash: prepared?.promptHash ?? null,
    started_at: at,
    completed_at: status === 'skipped' ? at : null,
    attempts: attempt,
    raw_response: prepared?.raw ? JSON.stringify(prepared.raw) : null,
  };
}

/** What an ending knows where nobody was asked, nothing was answered or nothing was gathered. */
const NO_FACTS = noFacts({});
const NO_ANSWER = { summary: null, nextStepContext: null, artifacts: [] as string[], output: null };
const NO_EVIDENCE: Evidence = {
  confidence: null,
  verifier: null,
  calibrated: null,
  grounding: null,
  checksPassed: null,
};

const text = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value));
const list = (values: readonly unknown[] | undefined): string | null =>
  values?.length ? JSON.stringify(values) : null;

/** What the end of a step changes in its row. */
export function endRecord(
  begun: Pick<Begun, 'row' | 'attempt'>,
  ending: EndingOfAny,
  completedAt: number,
): StepEndRecord {
  const { facts = NO_FACTS, answer = NO_ANSWER, error, checks } = ending;
  return {
    id: begun.row.id,
    model: facts.model ?? begun.row.model,
    provider: facts.provider,
    status: ending.status,
    ...evidenceColumns(ending),
    agent_version: facts.agentVersion,
    input_tokens: facts.inputTokens,
    output_tokens: facts.outputTokens,
    cost: null,
    cost_source: null,
    completed_at: completedAt,
    attempts: begun.attempt,
    error_type: error && error.type,
    error_message: error && error.message,
    checks: list(checks),
    summary: answer.summary,
    artifacts: list(answer.artifacts),
    next_step_context: text(answer.nextStepContext),
    output: text(answer.output),
    raw_response: ending.facts ? JSON.stringify({ ...facts.raw, ...ending.raw }) : begun.row.raw_response,
  };
}

function evidenceColumns({ evidence = NO_EVIDENCE, report }: Pick<Ending, 'evidence' | 'report'>) {
  const { confidence, verifier, grounding, checksPassed } = evidence;
  return {
    primary_confidence: confidence,
    verifier_confidence: verifier,
    effective_confidence: effectiveConfidence(evidence),
    grounding_score: grounding && grounding.score,
    deterministic_passed: checksPassed === null ? null : Number(checksPassed),
    trust_report: text(report),
  };
}

/** What the end of a step adds to the metrics. */
export function endCounters({ run, name, row }: Begun, ending: Ending, completedAt: number): Counter[] {
  const { facts = NO_FACTS, evidence = NO_EVIDENCE, status } = ending;
  return stepCounters({
    stage: run.stage,
    team: run.team,
    pipeline: run.pipeline.name,
    stepName: name,
    executor: row.executor,
    agent: row.agent,
    model: facts.model ?? row.model,
    provider: facts.provider,
    status,
    durationSeconds: (completedAt - row.started_at) / 1000,
    inputTokens: facts.inputTokens,
    outputTokens: facts.outputTokens,
    grounding: evidence.grounding && evidence.grounding.score,
    checksPassed: evidence.checksPassed,
  });
}
