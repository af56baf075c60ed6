/** What pages read: the JSON shapes of the HTTP API (Design 5), so that page and API cannot tell two stories. Times are ISO 8601. */
export type RunStatus =
  | 'queued'
  | 'running'
  | 'interrupted'
  | 'completed'
  | 'stopped'
  | 'escalated'
  | 'aborted'
  | 'failed'
  | 'cancelled';
export type StepStatus = Exclude<RunStatus, 'queued' | 'interrupted'> | 'skipped';

export interface Mark {
  outcome: 'correct' | 'partial' | 'incorrect';
  notes: string | null;
  submitted_at: string;
  submitted_by?: string | null;
}

/** One entry of `GET /runs`. `cost` is null when unpriced. */
export interface RunLine {
  id: string;
  pipeline_name: string;
  source: string;
  status: RunStatus;
  team: string | null;
  stage: 'testing' | 'production';
  severity: string | null;
  summary: string | null;
  triggered_at: string;
  completed_at: string | null;
  /** `human`, or `run:<id>` of the sub-run that waits. */
  waiting_on: string | null;
  trust: number | null;
  threshold: number | null;
  cost: number | null;
  unpriced_steps: number;
  feedback_outcome: Mark['outcome'] | null;
}

/** An answer that has no label yet; `output` is what the agent said beside its summary. */
export interface UnmarkedLine {
  run_id: string;
  step_name: string;
  pipeline_name: string;
  stage: string;
  run_summary: string | null;
  source: string;
  agent: string;
  status: string;
  trust: number | null;
  threshold: number | null;
  /** Why it passed its gate or not. */
  sentence: string | null;
  summary: string | null;
  output: unknown;
  completed_at: string;
}

export interface UnmarkedPage {
  steps: UnmarkedLine[];
  more: boolean;
}

export interface RunsPage {
  runs: RunLine[];
  limit: number;
  offset: number;
  total: number;
  total_is_lower_bound?: boolean;
}

export interface TrustReport {
  signals: { signal: string; value: number | null; enforced: boolean; note?: string | undefined }[];
  trust: number | null;
  threshold: number | null;
  passed: boolean | null;
  action: 'pass' | 'escalate' | 'abort' | 'proceed';
  sentence: string;
}

/** What a verifier or a grounding judge said. */
export interface SecondOpinion {
  agent: string;
  model: string | null;
  score: number | null;
  summary: string | null;
  error?: string | undefined;
}

/** What one agent that was asked for a step used and cost; a null cost is unpriced. */
export interface CostPart {
  part: 'answer' | 'verifier' | 'grounding';
  agent: string | null;
  model: string | null;
  provider: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
}

export interface RawResponse {
  prompt?: string | undefined;
  prompt_spans?: [number, number][] | undefined;
  text?: string | undefined;
  trace?: unknown[] | undefined;
  http?: { status: number; body: string } | undefined;
  /** The items of a fan-out. */
  items?: unknown[] | undefined;
  /** The run that a `pipeline` step started. */
  child_run_id?: string | undefined;
  verifier?: SecondOpinion | undefined;
  grounding?: SecondOpinion | undefined;
  /** In a rerun: the execution that this result was taken from. */
  loaded?: { step_id: string; status: StepStatus } | undefined;
  costs?: CostPart[] | undefined;
  /** Answers of earlier iterations of `loop_until`. */
  iterations_before?: { confidence: number | null; summary: string | null }[] | undefined;
}

export interface StepDetail {
  id: string;
  step_name: string;
  step_index: number;
  kind: 'step' | 'branch' | 'fan_out_branch' | 'parallel' | 'fan_out';
  executor: string;
  agent: string | null;
  model: string | null;
  provider: string | null;
  status: StepStatus;
  primary_confidence: number | null;
  effective_confidence: number | null;
  checks: unknown[];
  trust_report: TrustReport | null;
  prompt_hash: string | null;
  agent_version: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  cost_source: string | null;
  started_at: string;
  completed_at: string | null;
  attempts: number;
  summary?: string | null;
  output: Record<string, unknown> | null;
  /** Names; the texts are asked for one by one. */
  artifacts: string[];
  raw_response: RawResponse | null;
  feedback: Mark | null;
  /** Set by the page where the step has asked a person and has no answer yet. */
  waits?: true;
  error: { type: string; message: string } | null;
}

export interface ApprovalField {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean';
  description?: string | undefined;
  required: boolean;
  options?: (string | number)[] | undefined;
  default?: string | number | boolean | undefined;
}

/** One entry of `GET /approvals`. */
export interface ApprovalLine {
  id: string;
  run_id: string;
  pipeline: string;
  step_name: string;
  team: string | null;
  stage: 'testing' | 'production';
  question: string;
  fields: ApprovalField[];
  tool: { agent: string; server: string; tool: string; input: unknown; reason: string | null } | null;
  requested_at: string;
  expires_at: string;
  status: 'pending' | 'approved' | 'rejected' | 'timed_out' | 'cancelled';
  decided_at: string | null;
  decided_by: string | null;
  comment: string | null;
  answers: Record<string, string | number | boolean> | null;
}

/** `GET /runs/{id}`. */
export interface RunDetail extends Omit<RunLine, 'cost' | 'unpriced_steps'> {
  fingerprint: string | null;
  parent_run_id: string | null;
  rerun_of?: string | null;
  current_step: string | null;
  error: { step: string | null; message: string } | null;
  context: Record<string, unknown> | null;
  totals: { input_tokens: number; output_tokens: number; cost: number | null; unpriced_steps: number };
  feedback: Mark | null;
  /** Runs that steps of this one started. */
  children: RunLine[];
  /** Runs that repeat this one, the newest first. */
  reruns?: RunLine[];
  steps: StepDetail[];
}

/** One line of a run's log, as in the live stream. */
export interface LogLine {
  ts: string;
  level: string;
  event: string;
  msg: string;
  step_name?: string | undefined;
  [field: string]: unknown;
}

/** One row of `GET /audit`. */
export interface AuditLine {
  id: number;
  ts: string;
  actor: string;
  actor_kind: 'token' | 'chat' | 'system';
  role: string | null;
  action: string;
  target_type: string;
  target: string | null;
  run_id: string | null;
  outcome: string;
  prior_yaml: string | null;
  request_id: string | null;
}

export type ReadinessVerdict = 'ready' | 'not_ready' | 'building' | 'no_data' | 'not_configured';
interface TierOf {
  verdict: ReadinessVerdict;
  /** What its numbers say, in a sentence. */
  reason: string;
}

export interface ReadinessStep {
  step_name: string;
  kind: 'step' | 'branch' | 'parallel' | 'fan_out';
  executor: string;
  verdict: ReadinessVerdict;
  tiers: {
    operational: TierOf & { runs: number; min_runs: number | null; success_rate: number | null };
    confidence: TierOf & { answers: number; min_runs: number | null; pass_rate: number | null };
    accuracy: TierOf & { marked: number; min_marked: number | null; accuracy: number | null };
    calibration: TierOf & {
      n_min: number | null;
      fullest_bin: number;
      coverage: number | null;
      worst_gap: number | null;
    };
  };
  narrative: string[];
  notes: string[];
}

/** `GET /pipelines/{name}/promotion-readiness`. */
export interface ReadinessReport {
  pipeline_name: string;
  pipeline_stage: 'testing' | 'production';
  criteria_source: 'configured' | 'none';
  verdict: ReadinessVerdict;
  gathered_at: string;
  summary: Record<ReadinessVerdict | 'total', number>;
  steps: ReadinessStep[];
}

/** `POST /pipelines/{name}/promotion-readiness/preview`. */
export interface ReadinessPreview extends ReadinessReport {
  applied_to: string[];
  yaml_snippet: string;
  yaml_snippet_indented: string;
  yaml_target_hint: string;
}
