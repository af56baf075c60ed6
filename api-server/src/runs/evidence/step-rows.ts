import { effectiveConfidence, type Evidence } from './gate.ts';
import { costCounters, stepCost } from '../state/cost.ts';
import type { CheckResult, CostPart, RawResponse, StepStatus, TrustReport } from '../state/model.ts';
import type { Counter, StepEndRecord, StepStartRecord } from '../state/records.ts';
import { stepCounters } from '../state/rollups.ts';
import type { Site } from '../state/site.ts';
import { noFacts, type Answer, type CallFacts, type Prepared } from '../state/step-kind.ts';

/** A step whose row is stored. */
export interface Begun extends Site {
  row: StepStartRecord;
  attempt: number;
  iteration: number;
  /** What was asked for it so far. */
  costs: CostPart[];
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
  begun: Pick<Begun, 'row' | 'attempt' | 'costs'>,
  ending: EndingOfAny,
  completedAt: number,
): StepEndRecord {
  const { facts = NO_FACTS, answer = NO_ANSWER, error, checks } = ending;
  const spent = stepCost(begun.costs);
  return {
    id: begun.row.id,
    model: facts.model ?? begun.row.model,
    provider: facts.provider,
    status: ending.status,
    ...evidenceColumns(ending, spent.cost),
    agent_version: facts.agentVersion,
    input_tokens: spent.inputTokens,
    output_tokens: spent.outputTokens,
    cost: spent.cost,
    cost_source: spent.source,
    completed_at: completedAt,
    attempts: begun.attempt,
    error_type: error && error.type,
    error_message: error && error.message,
    checks: list(checks),
    summary: answer.summary,
    artifacts: list(answer.artifacts),
    next_step_context: text(answer.nextStepContext),
    output: text(answer.output),
    raw_response: ending.facts
      ? JSON.stringify({ ...facts.raw, ...ending.raw, ...costsOf(begun) })
      : begun.row.raw_response,
  };
}

const costsOf = ({ costs }: Pick<Begun, 'costs'>): Pick<RawResponse, 'costs'> =>
  costs.length > 1 || costs.some(({ cost }) => cost !== null) ? { costs } : {};

function evidenceColumns({ evidence = NO_EVIDENCE, report }: Pick<Ending, 'evidence' | 'report'>, cost: number | null) {
  const { confidence, verifier, grounding, checksPassed } = evidence;
  return {
    primary_confidence: confidence,
    verifier_confidence: verifier,
    effective_confidence: effectiveConfidence(evidence),
    grounding_score: grounding && grounding.score,
    deterministic_passed: checksPassed === null ? null : Number(checksPassed),
    trust_report: report ? JSON.stringify({ ...report, cost }) : null,
  };
}

/** What the end of a step adds to the metrics. */
export function endCounters({ run, name, row, costs }: Begun, ending: Ending, completedAt: number): Counter[] {
  const { facts = NO_FACTS, evidence = NO_EVIDENCE, status } = ending;
  const { inputTokens, outputTokens } = stepCost(costs);
  const counters = stepCounters({
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
    inputTokens,
    outputTokens,
    grounding: evidence.grounding && evidence.grounding.score,
    checksPassed: evidence.checksPassed,
  });
  if (run.stage !== 'production') return counters;
  return [...counters, ...costCounters({ pipeline: run.pipeline.name, team: run.team, at: completedAt }, costs)];
}
