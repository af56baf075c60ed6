import { z } from 'zod';
import {
  type CheckResult,
  type CostPart as StoredCostPart,
  type RawResponse as StoredResponse,
  type SecondOpinion as StoredOpinion,
  STEP_STATUSES,
  type StepExecution,
} from '../../runs/state/model.ts';
import type { StepFeedback as StepMark } from '../../store/tables/feedback.ts';
import { AnyObject, iso, isoOrNull, NullableNumber, NullableText, secondsBetween, Time } from './answer.ts';
import { StepFeedback, stepFeedbackView } from './feedback.ts';

/** Why a step passed its gate or did not: every signal, and one sentence. */
export const TrustReport = z
  .strictObject({
    signals: z.array(
      z.strictObject({
        signal: z.enum(['confidence', 'verifier', 'calibration', 'grounding', 'checks']),
        value: NullableNumber,
        /** False for a signal in shadow mode, which is recorded and changes nothing. */
        enforced: z.boolean(),
        note: z.string().optional(),
      }),
    ),
    trust: NullableNumber,
    threshold: NullableNumber,
    passed: z.boolean().nullable(),
    action: z.enum(['pass', 'escalate', 'abort', 'proceed']),
    sentence: z.string(),
    /** Of everything that was asked for this step; null = unpriced. */
    cost: NullableNumber.optional(),
  })
  .meta({ id: 'TrustReport' });
export type TrustReport = z.infer<typeof TrustReport>;

/** What a verifier or a grounding judge said of a step's answer. */
export const SecondOpinion = z.strictObject({
  agent: z.string(),
  model: NullableText,
  provider: NullableText,
  score: NullableNumber,
  summary: NullableText,
  input_tokens: NullableNumber,
  output_tokens: NullableNumber,
  error: z.string().optional(),
});
export type SecondOpinion = z.infer<typeof SecondOpinion>;

/** What one agent that was asked for a step used and cost; a null cost is unpriced. */
export const CostPart = z.strictObject({
  part: z.enum(['answer', 'verifier', 'grounding']),
  agent: NullableText,
  model: NullableText,
  provider: NullableText,
  input_tokens: NullableNumber,
  output_tokens: NullableNumber,
  cost: NullableNumber,
  source: NullableText,
});
export type CostPart = z.infer<typeof CostPart>;

/** What an executor answered (Orchestration 2.2); a key that does not apply is absent. */
export const RawResponse = z
  .strictObject({
    prompt: z.string().optional(),
    /** Offsets of the values that were put into the prompt. */
    prompt_spans: z.array(z.tuple([z.number(), z.number()])).optional(),
    text: z.string().optional(),
    stop_reason: z.string().optional(),
    iterations: z.number().optional(),
    tool_calls: z.number().optional(),
    trace: z.array(z.unknown()).optional(),
    http: z.strictObject({ status: z.number(), body: z.string() }).optional(),
    /** The items of a fan-out. */
    items: z.array(z.unknown()).optional(),
    /** The run that a `pipeline` step started. */
    child_run_id: z.string().optional(),
    verifier: SecondOpinion.optional(),
    grounding: SecondOpinion.optional(),
    /** In a rerun: the execution that this result was taken from. */
    loaded: z.strictObject({ step_id: z.string(), status: z.enum(STEP_STATUSES) }).optional(),
    costs: z.array(CostPart).optional(),
    /** Answers of earlier iterations of `loop_until`. */
    iterations_before: z.array(z.strictObject({ confidence: NullableNumber, summary: NullableText })).optional(),
  })
  .meta({ id: 'RawResponse' });
export type RawResponse = z.infer<typeof RawResponse>;

export const StepDetail = z
  .strictObject({
    id: z.string(),
    step_name: z.string(),
    step_index: z.number(),
    kind: z.enum(['step', 'branch', 'fan_out_branch', 'parallel', 'fan_out']),
    executor: z.enum(['gateway', 'external', 'human', 'webhook', 'pipeline', 'parallel', 'fan_out']),
    agent: NullableText,
    model: NullableText,
    provider: NullableText,
    status: z.enum(STEP_STATUSES),
    primary_confidence: NullableNumber,
    verifier_confidence: NullableNumber,
    effective_confidence: NullableNumber,
    grounding_score: NullableNumber,
    deterministic_passed: z.boolean().nullable(),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        type: z.enum(['shell', 'webhook']),
        passed: z.boolean(),
        /** Why it failed, or what was seen. */
        detail: z.string(),
        duration_seconds: z.number(),
      }),
    ),
    trust_report: TrustReport.nullable(),
    prompt_hash: NullableText,
    agent_version: NullableText,
    input_tokens: NullableNumber,
    output_tokens: NullableNumber,
    cost: NullableNumber,
    cost_source: NullableText,
    duration_seconds: NullableNumber,
    started_at: Time,
    completed_at: Time.nullable(),
    attempts: z.number(),
    summary: NullableText,
    /** What the agent answered beside the words of the contract. */
    output: AnyObject.nullable(),
    next_step_context: z.unknown(),
    raw_response: RawResponse.nullable(),
    /** Names; `GET /runs/{id}/artifacts` answers the text of one. */
    artifacts: z.array(z.string()),
    feedback: StepFeedback.nullable(),
    error: z.strictObject({ type: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'StepDetail' });
export type StepDetail = z.infer<typeof StepDetail>;

export const stepView = (step: StepExecution, feedback: StepMark | null): StepDetail => ({
  id: step.id,
  step_name: step.stepName,
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
  deterministic_passed: step.deterministicPassed,
  checks: step.checks.map(checkView),
  trust_report: step.trustReport,
  prompt_hash: step.promptHash,
  agent_version: step.agentVersion,
  input_tokens: step.inputTokens,
  output_tokens: step.outputTokens,
  cost: step.cost,
  cost_source: step.costSource,
  duration_seconds: secondsBetween(step.startedAt, step.completedAt),
  started_at: iso(step.startedAt),
  completed_at: isoOrNull(step.completedAt),
  attempts: step.attempts,
  summary: step.summary,
  output: step.output,
  next_step_context: step.nextStepContext,
  raw_response: step.rawResponse && rawResponseView(step.rawResponse),
  artifacts: step.artifacts,
  feedback: feedback && stepFeedbackView(feedback),
  error: step.error,
});

const checkView = ({ durationSeconds, ...check }: CheckResult) => ({ ...check, duration_seconds: durationSeconds });

const tokens = <T extends { inputTokens: number | null; outputTokens: number | null }>({
  inputTokens,
  outputTokens,
  ...rest
}: T) => ({ ...rest, input_tokens: inputTokens, output_tokens: outputTokens });

const rawResponseView = (raw: StoredResponse): RawResponse => ({
  prompt: raw.prompt,
  prompt_spans: raw.promptSpans,
  text: raw.text,
  stop_reason: raw.stopReason,
  iterations: raw.iterations,
  tool_calls: raw.toolCalls,
  trace: raw.trace,
  http: raw.http,
  items: raw.items,
  child_run_id: raw.childRunId,
  verifier: raw.verifier && tokens<StoredOpinion>(raw.verifier),
  grounding: raw.grounding && tokens<StoredOpinion>(raw.grounding),
  loaded: raw.loaded && { step_id: raw.loaded.stepId, status: raw.loaded.status },
  costs: raw.costs?.map((part) => tokens<StoredCostPart>(part)),
  iterations_before: raw.iterationsBefore,
});
