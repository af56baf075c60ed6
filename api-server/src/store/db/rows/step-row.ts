import { family } from '../../../runs/state/hourly.ts';
import { camelCase } from '../../../runs/state/key-case.ts';
import type { CheckResult, RawResponse, StepExecution, TrustReport } from '../../../runs/state/model.ts';

/** `family` is the step's name, of a fan-out branch the name before the slash. */
export type StepRow = ReturnType<typeof toStepRow>;

/** Columns that the start of a step writes; its end writes `END_COLUMNS`. */
export const START_COLUMNS = [
  'id',
  'run_id',
  'step_name',
  'family',
  'step_index',
  'kind',
  'executor',
  'agent',
  'model',
  'provider',
  'status',
  'pipeline_name',
  'team',
  'stage',
  'prompt_hash',
  'started_at',
  'completed_at',
  'attempts',
  'raw_response',
] as const satisfies readonly (keyof StepRow)[];

export const END_COLUMNS = [
  'model',
  'provider',
  'status',
  'primary_confidence',
  'verifier_confidence',
  'effective_confidence',
  'grounding_score',
  'deterministic_passed',
  'agent_version',
  'input_tokens',
  'output_tokens',
  'cost',
  'cost_source',
  'unpriced_calls',
  'completed_at',
  'attempts',
  'summary',
  'error_type',
  'error_message',
  'trust_report',
  'checks',
  'artifacts',
  'next_step_context',
  'output',
  'raw_response',
] as const satisfies readonly (keyof StepRow)[];

/** Column by column: every step passes here twice, and an object whose keys are computed costs ten times as much. */
export const toStepRow = (step: StepExecution) => ({
  id: step.id,
  run_id: step.runId,
  pipeline_name: step.pipelineName,
  team: step.team,
  stage: step.stage,
  step_name: step.stepName,
  family: family(step.stepName),
  step_index: step.stepIndex,
  kind: step.kind,
  executor: step.executor,
  agent: step.agent,
  model: step.model,
  provider: step.provider,
  status: step.status,
  primary_confidence: step.primaryConfidence,
  verifier_confidence: step.verifierConfidence,
  effective_confidence: step.effectiveConfidence,
  grounding_score: step.groundingScore,
  deterministic_passed: step.deterministicPassed === null ? null : Number(step.deterministicPassed),
  prompt_hash: step.promptHash,
  agent_version: step.agentVersion,
  input_tokens: step.inputTokens,
  output_tokens: step.outputTokens,
  cost: step.cost,
  cost_source: step.costSource,
  unpriced_calls: step.unpricedCalls,
  started_at: step.startedAt,
  completed_at: step.completedAt,
  attempts: step.attempts,
  summary: step.summary,
  error_type: step.error && step.error.type,
  error_message: step.error && step.error.message,
  trust_report: text(step.trustReport),
  checks: list(step.checks),
  artifacts: list(step.artifacts),
  next_step_context: text(step.nextStepContext),
  output: text(step.output),
  raw_response: text(step.rawResponse),
});

export const toStep = ({ family: _, error_type: type, error_message: message, ...row }: StepRow): StepExecution => ({
  ...camelCase(row),
  deterministicPassed: row.deterministic_passed === null ? null : row.deterministic_passed === 1,
  error: type === null ? null : { type, message: message ?? '' },
  trustReport: parsed(row.trust_report) as TrustReport | null,
  checks: (parsed(row.checks) ?? []) as CheckResult[],
  artifacts: (parsed(row.artifacts) ?? []) as string[],
  nextStepContext: parsed(row.next_step_context),
  output: parsed(row.output) as Record<string, unknown> | null,
  rawResponse: parsed(row.raw_response) as RawResponse | null,
});

const text = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value));
const list = (values: readonly unknown[]): string | null => (values.length > 0 ? JSON.stringify(values) : null);
const parsed = (json: string | null): unknown => (json === null ? null : JSON.parse(json));
