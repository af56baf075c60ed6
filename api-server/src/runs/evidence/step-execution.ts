import { confidenceAlone, effectiveConfidence, type Evidence } from './gate.ts';
import { costCounters, monthOf, NAMESPACE_TOKENS, stepCost } from '../cost/cost.ts';
import type { ActiveRun } from '../state/active-run.ts';
import type {
  CheckResult,
  CostPart,
  EndedStep,
  RawResponse,
  StepError,
  StepExecution,
  StepStatus,
  TrustReport,
} from '../state/model.ts';
import type { ModelLabel } from '../cost/model-label.ts';
import type { TeamLabel } from '../cost/team-label.ts';
import type { Counter, Write } from '../state/records.ts';
import { stepCounters } from '../state/rollups.ts';
import type { StepContext } from '../state/step-context.ts';
import type { StepPart } from '../state/step-parts.ts';
import { noFacts, type Answer, type CallFacts, type Prepared } from '../state/step-kind.ts';

/** A step whose row is stored, or will be with its end. */
export interface Begun extends StepContext {
  row: StepExecution;
  /** What is not stored of its start. */
  start: Write[];
  attempt: number;
  iteration: number;
  /** What was asked for it so far. */
  costs: CostPart[];
  /** Of all attempts and iterations so far; null where nothing was answered yet. */
  facts: CallFacts | null;
  /** Where its time went so far. */
  parts: StepPart[];
}

/** Everything known of a step at its end. */
export interface Ending {
  status: Exclude<StepStatus, 'running' | 'skipped'>;
  error: StepError | null;
  answer?: Answer;
  evidence?: Evidence;
  checks?: CheckResult[];
  report?: TrustReport;
  /** Second opinions and the like, added to what is kept of the call. */
  raw?: Partial<RawResponse>;
}

/** A group may also end as skipped. */
type EndingOfAny = Omit<Ending, 'status'> & { status: Exclude<StepStatus, 'running'> };

/** A step's place in its run. */
export interface StepOf extends Pick<StepExecution, 'stepIndex' | 'kind' | 'executor' | 'agent'> {
  run: Pick<ActiveRun, 'id' | 'pipeline' | 'team' | 'stage'>;
  name: string;
}

export const stepOf = ({ run, name, index, kind, step }: StepContext): StepOf => ({
  run,
  name,
  stepIndex: index,
  kind,
  executor: step.executor,
  agent: 'agent' in step ? step.agent : null,
});

export interface Beginning {
  id: string;
  at: number;
  attempt: number;
  prepared: Pick<Prepared, 'model' | 'promptHash' | 'raw'> | null;
  status: 'running' | 'skipped';
}

/** What is known before a step has ended. */
const NOTHING_YET = {
  provider: null,
  primaryConfidence: null,
  verifierConfidence: null,
  effectiveConfidence: null,
  groundingScore: null,
  deterministicPassed: null,
  agentVersion: null,
  inputTokens: null,
  outputTokens: null,
  cost: null,
  costSource: null,
  unpricedCalls: null,
  summary: null,
  error: null,
  trustReport: null,
  checks: [],
  artifacts: [],
  nextStepContext: null,
  output: null,
};

/** A step before it runs, or one that never will. */
export const startedStep = (
  { run, name, stepIndex, kind, executor, agent }: StepOf,
  { id, at, attempt, prepared, status }: Beginning,
): StepExecution => ({
  ...NOTHING_YET,
  id,
  runId: run.id,
  pipelineName: run.pipeline.name,
  team: run.team,
  stage: run.stage,
  stepName: name,
  stepIndex,
  kind,
  executor,
  agent,
  model: prepared && prepared.model,
  status,
  promptHash: prepared && prepared.promptHash,
  startedAt: at,
  completedAt: status === 'skipped' ? at : null,
  attempts: attempt,
  rawResponse: prepared && prepared.raw,
});

/** Defaults of an ending without a call, an answer or evidence. */
const NO_FACTS = noFacts({});
const NO_ANSWER = { summary: null, nextStepContext: null, artifacts: [] as string[], output: null };
const NO_EVIDENCE = confidenceAlone(null);

/** The step with what its end brings. */
export function endedStep(
  { row, attempt, costs, facts: known, parts }: Pick<Begun, 'row' | 'attempt' | 'costs' | 'facts'> & Partial<Begun>,
  ending: EndingOfAny,
  completedAt: number,
): EndedStep {
  const facts = known ?? NO_FACTS;
  const { answer = NO_ANSWER, evidence = NO_EVIDENCE, report, error, checks = [] } = ending;
  const spent = stepCost(costs);
  return {
    ...row,
    model: facts.model ?? row.model,
    provider: facts.provider,
    status: ending.status,
    primaryConfidence: evidence.confidence,
    verifierConfidence: evidence.verifier,
    effectiveConfidence: effectiveConfidence(evidence),
    groundingScore: evidence.grounding && evidence.grounding.score,
    deterministicPassed: evidence.checksPassed,
    trustReport: report ? { ...report, cost: spent.cost } : null,
    agentVersion: facts.agentVersion,
    inputTokens: spent.inputTokens,
    outputTokens: spent.outputTokens,
    cost: spent.cost,
    costSource: spent.source,
    unpricedCalls: spent.unpricedCalls,
    completedAt,
    attempts: attempt,
    error,
    checks,
    summary: answer.summary,
    artifacts: answer.artifacts,
    nextStepContext: answer.nextStepContext,
    output: answer.output,
    rawResponse: rawOf(known ? facts.raw : row.rawResponse, {
      ...ending.raw,
      ...costsOf(row, costs),
      ...(parts && { parts }),
    }),
  };
}

/** A row of an agent says what was used, also where that is nothing. */
const costsOf = ({ executor }: StepExecution, costs: CostPart[]): Pick<RawResponse, 'costs'> =>
  executor === 'gateway' || executor === 'external' ? { costs } : {};

const rawOf = (asked: RawResponse | null, more: RawResponse): RawResponse | null =>
  asked === null && Object.keys(more).length === 0 ? null : { ...asked, ...more };

/** Names in metrics; as they are where absent. */
export interface MetricLabels {
  modelLabel?: ModelLabel;
  teamLabel?: TeamLabel;
}

/** What the end of a step adds to the metrics. */
export function endCounters(
  { run, costs: spent }: Pick<Begun, 'run' | 'costs'>,
  ended: EndedStep,
  { modelLabel = (model) => model, teamLabel = ({ team }) => team }: MetricLabels,
): Counter[] {
  const used = (ended.inputTokens ?? 0) + (ended.outputTokens ?? 0);
  const limited =
    run.namespace === null || used === 0
      ? []
      : [{ metric: NAMESPACE_TOKENS, labels: [run.namespace, monthOf(ended.completedAt)], value: used }];
  if (run.stage !== 'production') return limited;
  const costs = spent.map((part) => ({ ...part, model: modelLabel(part.model) }));
  const team = teamLabel(run);
  const counters = stepCounters({ ...ended, team, model: modelLabel(ended.model) }, costs);
  const paid = costCounters({ pipeline: run.pipeline.name, team, at: ended.completedAt }, costs);
  return [...counters, ...paid, ...limited];
}
