import type { ExecutorStep, ItemStep } from '@signalbox/crds';
import type { ActiveRun } from './active-run.ts';
import { effectiveConfidence, type Evidence } from './gate.ts';
import type { CheckResult, RawResponse, StepKind as RowKind, StepStatus, TrustReport } from './model.ts';
import type { Counter, StepEndRecord, StepStartRecord } from './records.ts';
import { stepCounters } from './rollups.ts';
import type { Answer, CallFacts, Prepared } from './step-kind.ts';

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

/** What the end of a step changes in its row. */
export function endRecord(begun: Begun, ending: Ending, completedAt: number): StepEndRecord {
  const { facts, answer, checks } = ending;
  return {
    id: begun.row.id,
    model: facts?.model ?? begun.row.model,
    provider: facts?.provider ?? null,
    status: ending.status,
    ...evidenceColumns(ending),
    agent_version: facts?.agentVersion ?? null,
    input_tokens: facts?.inputTokens ?? null,
    output_tokens: facts?.outputTokens ?? null,
    cost: null,
    cost_source: null,
    completed_at: completedAt,
    attempts: begun.attempt,
    error_type: ending.error?.type ?? null,
    error_message: ending.error?.message ?? null,
    checks: checks && checks.length > 0 ? JSON.stringify(checks) : null,
    ...answerColumns(answer),
    raw_response: facts ? JSON.stringify({ ...facts.raw, ...ending.raw }) : begun.row.raw_response,
  };
}

function evidenceColumns({ evidence, report }: Ending) {
  return {
    primary_confidence: evidence?.confidence ?? null,
    verifier_confidence: evidence?.verifier ?? null,
    effective_confidence: evidence ? effectiveConfidence(evidence) : null,
    grounding_score: evidence?.grounding?.score ?? null,
    deterministic_passed: evidence?.checksPassed == null ? null : Number(evidence.checksPassed),
    trust_report: report ? JSON.stringify(report) : null,
  };
}

const answerColumns = (answer: Answer | undefined) => ({
  summary: answer?.summary ?? null,
  artifacts: answer && answer.artifacts.length > 0 ? JSON.stringify(answer.artifacts) : null,
  next_step_context: answer?.nextStepContext == null ? null : JSON.stringify(answer.nextStepContext),
  output: answer ? JSON.stringify(answer.output) : null,
});

/** What the end of a step adds to the metrics. */
export function endCounters({ run, name, row }: Begun, { status, facts, evidence }: Ending, completedAt: number): Counter[] {
  return stepCounters({
    stage: run.stage,
    team: run.team,
    pipeline: run.pipeline.name,
    stepName: name,
    executor: row.executor,
    agent: row.agent,
    model: facts?.model ?? row.model,
    provider: facts?.provider ?? null,
    status,
    durationSeconds: (completedAt - row.started_at) / 1000,
    inputTokens: facts?.inputTokens ?? null,
    outputTokens: facts?.outputTokens ?? null,
    grounding: evidence?.grounding?.score ?? null,
    checksPassed: evidence?.checksPassed ?? null,
  });
}
