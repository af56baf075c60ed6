import type { CheckResult, CostPart, RawResponse, Run, SecondOpinion, StepExecution } from '../../runs/state/model.ts';
import type { Approval } from '../../runs/human/approval.ts';
import type { RunFeedback, StepFeedback } from '../../store/tables/feedback.ts';
import type { RunDetail } from '../../store/tables/run-detail.ts';
import type { UnmarkedStep } from '../../store/aggregates/unmarked-steps.ts';
import type { Preview, Verdict } from '../../triggers/model.ts';

/** Domain to wire, in one place: snake_case, ISO 8601, for routes and pages alike (Design 5). */
export const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
const seconds = (from: number, to: number | null): number | null =>
  to === null ? null : Math.max(0, to - from) / 1000;

/** One row of `GET /runs`: the fields of Orchestration 4.2 and what a dense list shows beside them. */
export const runLine = (run: Run) => ({
  id: run.id,
  pipeline_name: run.pipelineName,
  source: run.source,
  status: run.status,
  team: run.team,
  stage: run.stage,
  triggered_at: iso(run.triggeredAt),
  completed_at: isoOrNull(run.completedAt),
  severity: run.severity,
  summary: run.summary,
  trust: run.trust,
  threshold: run.threshold,
  duration_seconds: seconds(run.triggeredAt, run.completedAt),
  cost: run.cost,
  unpriced_steps: run.unpricedSteps,
  input_tokens: run.inputTokens,
  output_tokens: run.outputTokens,
  current_step: run.currentStep,
  waiting_on: run.waitingOn,
  feedback_outcome: run.feedbackOutcome,
});

/** An answer of the marking queue, for its page. */
export const unmarkedLine = ({ trustReport, ...step }: UnmarkedStep) => ({
  run_id: step.runId,
  step_name: step.stepName,
  pipeline_name: step.pipelineName,
  stage: step.stage,
  run_summary: step.runSummary,
  source: step.source,
  agent: step.agent,
  status: step.status,
  trust: trustReport?.trust ?? null,
  threshold: trustReport?.threshold ?? null,
  sentence: trustReport?.sentence ?? null,
  summary: step.summary,
  output: step.output,
  completed_at: iso(step.completedAt),
});

/** `GET /runs/{id}` (Orchestration 2.1, 2.2, Design 5). */
export const runDetailView = ({ run, context, raw, steps, feedback, stepFeedback, children, reruns }: RunDetail) => ({
  ...runLine(run),
  fingerprint: run.fingerprint,
  parent_run_id: run.parentRunId,
  rerun_of: run.rerunOf,
  definition_hash: run.definitionHash,
  error: run.error,
  context: contextView(context, raw),
  totals: {
    input_tokens: run.inputTokens,
    output_tokens: run.outputTokens,
    cost: run.cost,
    unpriced_steps: run.unpricedSteps,
    duration_seconds: seconds(run.triggeredAt, run.completedAt),
  },
  feedback: feedback ? runFeedbackView(feedback) : null,
  children: children.map(runLine),
  reruns: reruns.map(runLine),
  steps: steps.map((step) => stepView(step, stepFeedback.get(step.stepName) ?? null)),
});

/** The stored context has the words of the domain; `raw` only where it was asked for. */
function contextView({ receivedAt, ...context }: Record<string, unknown>, raw: unknown) {
  const received = typeof receivedAt === 'number' ? { received_at: iso(receivedAt) } : {};
  return { ...context, ...received, ...(raw === undefined ? {} : { raw }) };
}

export const stepView = (step: StepExecution, feedback: StepFeedback | null) => ({
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
  duration_seconds: seconds(step.startedAt, step.completedAt),
  started_at: iso(step.startedAt),
  completed_at: isoOrNull(step.completedAt),
  attempts: step.attempts,
  summary: step.summary,
  output: step.output,
  next_step_context: step.nextStepContext,
  raw_response: step.rawResponse && rawResponseView(step.rawResponse),
  artifacts: step.artifacts,
  feedback: feedback ? stepFeedbackView(feedback) : null,
  error: step.error,
});

const checkView = ({ durationSeconds, ...check }: CheckResult) => ({ ...check, duration_seconds: durationSeconds });

const opinionView = ({ inputTokens, outputTokens, ...opinion }: SecondOpinion) => ({
  ...opinion,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

const costView = ({ inputTokens, outputTokens, ...part }: CostPart) => ({
  ...part,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

/** Keys that are not set stay away. */
function rawResponseView(raw: RawResponse) {
  const { promptSpans, stopReason, toolCalls, childRunId, verifier, grounding, loaded, ...rest } = raw;
  const { iterationsBefore, costs, ...same } = rest;
  const renamed = {
    prompt_spans: promptSpans,
    stop_reason: stopReason,
    tool_calls: toolCalls,
    child_run_id: childRunId,
    verifier: verifier && opinionView(verifier),
    grounding: grounding && opinionView(grounding),
    loaded: loaded && { step_id: loaded.stepId, status: loaded.status },
    iterations_before: iterationsBefore,
    costs: costs?.map(costView),
  };
  return { ...same, ...renamed };
}

export const runFeedbackView = (mark: RunFeedback) => ({
  run_id: mark.runId,
  outcome: mark.outcome,
  notes: mark.notes,
  submitted_at: iso(mark.submittedAt),
  submitted_by: mark.submittedBy,
});

export const stepFeedbackView = (mark: StepFeedback) => ({
  run_id: mark.runId,
  step_name: mark.stepName,
  outcome: mark.outcome,
  notes: mark.notes,
  submitted_at: iso(mark.submittedAt),
  submitted_by: mark.submittedBy,
});

/** A verdict as the body of its answer, or as one entry of `runs` (Orchestration 4.1, Design 4). */
export function verdictView(verdict: Verdict): Record<string, unknown> & { status: Verdict['status'] } {
  switch (verdict.status) {
    case 'accepted':
    case 'queued':
    case 'deduplicated': {
      const { runId, ...rest } = verdict;
      return { ...rest, run_id: runId };
    }
    case 'at_capacity':
      return {
        status: verdict.status,
        message: verdict.message,
        active_runs: verdict.activeRuns,
        max_concurrent_runs: verdict.maxConcurrentRuns,
      };
    case 'skipped_testing':
    case 'suspended':
    case 'no_pipeline':
    case 'unavailable':
      return { ...verdict };
    default:
      return verdict satisfies never;
  }
}

export const previewView = ({ dedup, context, ...rest }: Preview) => ({
  ...rest,
  dedup: { duplicate: dedup.duplicate, run_id: dedup.runId },
  context: contextView({ ...context }, undefined),
});

/** One entry of `GET /approvals` (Orchestration 3, "Human approval"). */
export const approvalView = (approval: Approval) => ({
  id: approval.id,
  run_id: approval.runId,
  pipeline: approval.pipelineName,
  step_name: approval.stepName,
  team: approval.team,
  stage: approval.stage,
  kind: approval.kind,
  question: approval.question,
  fields: approval.fields,
  tool: approval.tool,
  requested_at: iso(approval.requestedAt),
  expires_at: iso(approval.expiresAt),
  status: approval.status,
  decided_at: isoOrNull(approval.decidedAt),
  decided_by: approval.decidedBy,
  comment: approval.comment,
  answers: approval.answers,
});

interface Described {
  name: string;
  config: { description?: string; tags?: string[] };
}

/** Orchestration 2.8. */
export const pipelineSummary = ({
  name,
  config,
}: Described & { config: { version?: string | number; stage: string } }) => ({
  name,
  description: config.description ?? null,
  version: config.version ?? null,
  stage: config.stage,
  tags: config.tags ?? [],
});

export const stepSummary = ({ name, config }: Described & { config: { executor: string; agent?: string } }) => ({
  name,
  description: config.description ?? '',
  tags: config.tags ?? [],
  executor: config.executor,
  agent: config.agent ?? null,
});
