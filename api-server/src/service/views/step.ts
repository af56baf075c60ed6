import { z } from 'zod';
import { tidy } from '../../analytics/tidy.ts';
import { isUnpriced, partsOf, stepCost, total } from '../../runs/cost/cost.ts';
import {
  type CostPart,
  type RawResponse as StoredResponse,
  STEP_STATUSES,
  type StepExecution,
  TRUST_WARNINGS,
} from '../../runs/state/model.ts';
import { STEP_PARTS } from '../../runs/state/step-parts.ts';
import type { StepFeedback as StepMark } from '../../store/tables/feedback.ts';
import { AnyObject, NullableNumber, NullableText, secondsBetween, Time, viewOf } from './answer.ts';
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
    /** Of everything that was asked for this step and has a price; null where nothing has. */
    cost: NullableNumber.optional(),
    /** What a person should know before they trust the step; absent where there is nothing. */
    warnings: z.array(z.strictObject({ type: z.enum(TRUST_WARNINGS), message: z.string() })).optional(),
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
  error: z.string().optional(),
  started_at: Time.optional(),
  ended_at: Time.optional(),
  /** What a grounding judge was shown. */
  sources: z.array(z.string()).optional(),
});
export type SecondOpinion = z.infer<typeof SecondOpinion>;

/** What an agent that was asked for a step used and cost, in all its calls; the model is the last that answered. */
const AgentUsage = z
  .strictObject({
    agent: NullableText,
    model: NullableText,
    provider: NullableText,
    input_tokens: NullableNumber,
    output_tokens: NullableNumber,
    /** Among the input tokens; null where nobody said, as in rows of before version 0.2.0. */
    cached_input_tokens: NullableNumber,
    /** Of the calls that have a price; null where none has. */
    cost: NullableNumber,
    cost_source: NullableText,
    unpriced_calls: z.number(),
    /** Of each model, where several used tokens. */
    by_model: z
      .array(
        z.strictObject({
          model: NullableText,
          provider: NullableText,
          input_tokens: NullableNumber,
          output_tokens: NullableNumber,
          cached_input_tokens: NullableNumber,
          cost: NullableNumber,
        }),
      )
      .optional(),
  })
  .meta({ id: 'AgentUsage' });
export type AgentUsage = z.infer<typeof AgentUsage>;

/** Who used what for a step; null for an agent that was not asked, or whose backend reported nothing. */
export const StepUsage = z
  .strictObject({
    agent: AgentUsage.nullable(),
    verifier: AgentUsage.nullable(),
    grounding: AgentUsage.nullable(),
  })
  .meta({ id: 'StepUsage' });
export type StepUsage = z.infer<typeof StepUsage>;

/** A request, without secrets; `status` is null where no answer came. */
export const TriedRequest = z.strictObject({ method: z.string(), url: z.string(), status: NullableNumber });
export type TriedRequest = z.infer<typeof TriedRequest>;

/** Where time of a step went, as the service measured it; what an agent did inside of an attempt is in `trace`. */
export const StepPart = z
  .strictObject({
    part: z.enum(STEP_PARTS),
    started_at: Time,
    ended_at: Time,
    iteration: z.number(),
    attempt: z.number(),
    /** What an attempt failed with. */
    error: z.string().optional(),
    request: TriedRequest.optional(),
    /** An agent was asked, and its backend did not say what it did. */
    unreported: z.literal(true).optional(),
  })
  .meta({ id: 'StepPart' });
export type StepPart = z.infer<typeof StepPart>;

const Loaded = z.strictObject({ step_id: z.string(), status: z.enum(STEP_STATUSES) });

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
    trace_cut: z.boolean().optional(),
    http: z.strictObject({ status: z.number(), body: z.string() }).optional(),
    /** The items of a fan-out; absent where those of its run take too much together. */
    items: z.array(z.unknown()).optional(),
    /** The run that a `pipeline` step started. */
    child_run_id: z.string().optional(),
    verifier: SecondOpinion.optional(),
    grounding: SecondOpinion.optional(),
    /** In a rerun: the execution that made this result. */
    loaded: Loaded.optional(),
    /** Answers of earlier iterations of `loop_until`. */
    iterations_before: z.array(z.strictObject({ confidence: NullableNumber, summary: NullableText })).optional(),
    parts: z.array(StepPart).optional(),
  })
  .meta({ id: 'RawResponse' });
export type RawResponse = z.infer<typeof RawResponse>;

const CheckResult = z.strictObject({
  name: z.string(),
  type: z.enum(['shell', 'webhook']),
  passed: z.boolean(),
  /** Why it failed, or what was seen. */
  detail: z.string(),
  duration_seconds: z.number(),
  started_at: Time.optional(),
  /** What a webhook check sent. */
  request: TriedRequest.optional(),
});

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
    checks: z.array(CheckResult),
    trust_report: TrustReport.nullable(),
    prompt_hash: NullableText,
    agent_version: NullableText,
    input_tokens: NullableNumber,
    output_tokens: NullableNumber,
    /** Of its calls that have a price; null where none has. */
    cost: NullableNumber,
    cost_source: NullableText,
    /** Calls that used tokens and have no price. */
    unpriced_calls: z.number(),
    /** Null for steps that ask no agent, and where nothing was recorded: failed calls before version 0.2.0. */
    usage: StepUsage.nullable(),
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

export const stepView = (step: StepExecution, feedback: StepMark | null): StepDetail =>
  viewOf(StepDetail, step, {
    checks: step.checks.map((check) => viewOf(CheckResult, check)),
    trust_report: tidy(step.trustReport),
    unpriced_calls: step.unpricedCalls ?? (isUnpriced(step) ? 1 : 0),
    usage: usageView(step),
    duration_seconds: secondsBetween(step.startedAt, step.completedAt),
    raw_response: step.rawResponse && rawResponseView(step.rawResponse),
    feedback: feedback && stepFeedbackView(feedback),
  });

const rawResponseView = (raw: StoredResponse): RawResponse =>
  viewOf(RawResponse, raw, {
    verifier: raw.verifier && viewOf(SecondOpinion, raw.verifier),
    grounding: raw.grounding && viewOf(SecondOpinion, raw.grounding),
    loaded: raw.loaded && viewOf(Loaded, raw.loaded),
    parts: raw.parts?.map((part) => viewOf(StepPart, part)),
  });

function usageView(step: StepExecution): StepUsage | null {
  const parts = partsOf(step);
  if (parts === null) return null;
  const of = (name: CostPart['part']) => agentUsage(parts.filter(({ part }) => part === name));
  return { agent: of('answer'), verifier: of('verifier'), grounding: of('grounding') };
}

function agentUsage(parts: readonly CostPart[]): AgentUsage | null {
  const last = parts.at(-1);
  if (!last) return null;
  const { source, unpricedCalls, cost, inputTokens, outputTokens } = stepCost(parts);
  return {
    agent: last.agent,
    model: last.model,
    provider: last.provider,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cached_input_tokens: total(parts, (part) => part.cachedInputTokens),
    cost,
    cost_source: source,
    unpriced_calls: unpricedCalls ?? 0,
    ...(parts.length > 1 && { by_model: parts.map(modelUsage) }),
  };
}

const modelUsage = ({ model, provider, cost, ...tokens }: CostPart) => ({
  model,
  provider,
  input_tokens: tokens.inputTokens,
  output_tokens: tokens.outputTokens,
  cached_input_tokens: tokens.cachedInputTokens ?? null,
  cost,
});
