/** The domain types of a run, shared by the engine, the store, routes and pages. */

import type { AttentionState } from './attention.ts';
import type { RunResult } from './result.ts';
import type { StepPart, TriedRequest } from './step-parts.ts';

export const ACTIVE_RUN_STATUSES = ['queued', 'running', 'interrupted'] as const;
export const TERMINAL_RUN_STATUSES = ['completed', 'stopped', 'escalated', 'aborted', 'failed', 'cancelled'] as const;
export const RUN_STATUSES = [...ACTIVE_RUN_STATUSES, ...TERMINAL_RUN_STATUSES] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type TerminalRunStatus = (typeof TERMINAL_RUN_STATUSES)[number];

export const STEP_STATUSES = [
  'running',
  'completed',
  'stopped',
  'escalated',
  'aborted',
  'failed',
  'cancelled',
  'skipped',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const STAGES = ['testing', 'production'] as const;
export type Stage = (typeof STAGES)[number];

export const OUTCOMES = ['correct', 'partial', 'incorrect'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type StepKind = 'step' | 'branch' | 'fan_out_branch' | 'parallel' | 'fan_out';
/** The last two are the rows of groups, whose branches do the work. */
export type ExecutorName = 'gateway' | 'external' | 'human' | 'webhook' | 'pipeline' | 'parallel' | 'fan_out';

/** Normalised context of a trigger (Orchestration 2.4). `receivedAt` is milliseconds since the epoch. */
export interface TriggerContext {
  source: string;
  pipeline: string | null;
  severity: string | null;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  summary: string | null;
  fingerprint: string | null;
  metadata: Record<string, unknown>;
  raw: unknown;
  receivedAt: number;
}

/** Where a run stopped short and why; `step` is null when the run itself failed. */
export interface RunError {
  step: string | null;
  message: string;
}

/** One run (Orchestration 2.1). Times are milliseconds since the epoch, `cost` currency units, null = unpriced. */
export interface Run {
  seq: number;
  id: string;
  pipelineName: string;
  definitionHash: string;
  source: string;
  status: RunStatus;
  team: string | null;
  stage: Stage;
  severity: string | null;
  summary: string | null;
  triggeredAt: number;
  completedAt: number | null;
  fingerprint: string | null;
  parentRunId: string | null;
  rerunOf: string | null;
  /** Null for a run that needs no person. */
  attention: AttentionState | null;
  assignee: string | null;
  /** `human`, or `run:<id>` of the sub-run that waits. */
  waitingOn: string | null;
  currentStep: string | null;
  error: RunError | null;
  /** Trust of the last gated step and the threshold it met, for the one-line view of a run. */
  trust: number | null;
  threshold: number | null;
  /** Null where no agent answered; undefined until it is kept, some time after the end. */
  result?: RunResult | null | undefined;
  inputTokens: number;
  outputTokens: number;
  cost: number | null;
  unpricedSteps: number;
  /** Of all its steps. */
  warningCount: number;
  /** The mark of the whole run (Orchestration 2.3). */
  feedbackOutcome: Outcome | null;
}

/** One signal of the evidence of a step, in the order in which the gate took them. */
export interface TrustSignal {
  signal: 'confidence' | 'verifier' | 'calibration' | 'grounding' | 'checks';
  value: number | null;
  /** False for a signal in shadow mode, which is recorded and changes nothing. */
  enforced: boolean;
  note?: string;
}

/** Why a step passed the gate or did not. */
export interface TrustReport {
  signals: TrustSignal[];
  trust: number | null;
  threshold: number | null;
  passed: boolean | null;
  action: 'pass' | 'escalate' | 'abort' | 'proceed';
  sentence: string;
  /** Of everything that was asked for this step, in currency units; null = unpriced. */
  cost?: number | null;
  /** Absent where there is none. */
  warnings?: TrustWarning[];
}

export const TRUST_WARNINGS = [
  'blank_values',
  'denied_tools',
  'trace_cut',
  'failed_attempts',
  'tools_unavailable',
  'continued_failure',
  'output_left_out',
  'verifier_failed',
  'grounding_failed',
] as const;

/** What a person should know before they trust a step; it changes no number. */
export interface TrustWarning {
  type: (typeof TRUST_WARNINGS)[number];
  message: string;
}

/** What a verifier or a grounding judge said of a step's answer. */
export interface SecondOpinion {
  agent: string;
  model: string | null;
  provider: string | null;
  score: number | null;
  summary: string | null;
  error?: string;
  /** Milliseconds since the epoch. */
  startedAt?: number;
  endedAt?: number;
  /** What a grounding judge was shown. */
  sources?: string[];
}

/** What one agent used and cost for a step, of one model; a null cost is unpriced. */
export interface CostPart {
  part: 'answer' | 'verifier' | 'grounding';
  /** Absent, like `calls`, in parts that were stored before version 0.2.0. */
  executor?: 'gateway' | 'external';
  calls?: number;
  agent: string | null;
  model: string | null;
  provider: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Among the input tokens; null where nobody said, absent in parts that were stored before version 0.2.0. */
  cachedInputTokens?: number | null;
  cost: number | null;
  source: string | null;
}

/** The outcome of one deterministic check. */
export interface CheckResult {
  name: string;
  type: 'shell' | 'webhook';
  passed: boolean;
  /** Why it failed, or what was seen. */
  detail: string;
  durationSeconds: number;
  /** Milliseconds since the epoch. */
  startedAt?: number;
  /** What a webhook check sent. */
  request?: TriedRequest;
}

/** What an executor answered, kept for people and for replay (Orchestration 2.2). */
export interface RawResponse {
  prompt?: string;
  /** Offsets of the values that were put into the prompt. */
  promptSpans?: [number, number][];
  /** Values that the prompt uses and that did not exist. */
  missing?: string[];
  text?: string;
  stopReason?: string;
  iterations?: number;
  toolCalls?: number;
  /** What the backend says was wrong beside the answer, such as tools that were not there. */
  warnings?: string[];
  trace?: unknown[];
  /** Entries of the trace, or what some of them said, are left out. */
  traceCut?: boolean;
  http?: { status: number; body: string };
  /** The items of a fan-out, as evaluated once. */
  items?: unknown[];
  /** The run that a `pipeline` step started. */
  childRunId?: string;
  verifier?: SecondOpinion;
  grounding?: SecondOpinion;
  /** Set in a rerun: the execution that made this result, maybe before earlier reruns, and how that ended. */
  loaded?: { stepId: string; status: StepStatus };
  /** Who used what; empty where an agent was asked and nobody reported tokens. */
  costs?: CostPart[];
  /** Answers of earlier iterations of `loop_until`. */
  iterationsBefore?: { confidence: number | null; summary: string | null }[];
  /** What the answers of the step counted for in the bound of its run, in characters; absent where none was kept. */
  charged?: number;
  /** Where the time of the step went, in order; absent in rows of before they were stored. */
  parts?: StepPart[];
}

/** One executed step (Orchestration 2.2). `pipelineName`, `team` and `stage` are its run's. */
export interface StepExecution {
  id: string;
  runId: string;
  pipelineName: string;
  team: string | null;
  stage: Stage;
  stepName: string;
  stepIndex: number;
  kind: StepKind;
  executor: ExecutorName;
  agent: string | null;
  model: string | null;
  provider: string | null;
  status: StepStatus;
  primaryConfidence: number | null;
  verifierConfidence: number | null;
  effectiveConfidence: number | null;
  groundingScore: number | null;
  deterministicPassed: boolean | null;
  checks: CheckResult[];
  trustReport: TrustReport | null;
  promptHash: string | null;
  agentVersion: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cost: number | null;
  costSource: string | null;
  /** Calls without a price; null where there is none. */
  unpricedCalls: number | null;
  startedAt: number;
  completedAt: number | null;
  attempts: number;
  summary: string | null;
  output: Record<string, unknown> | null;
  nextStepContext: unknown;
  rawResponse: RawResponse | null;
  artifacts: string[];
  error: StepError | null;
}

export interface StepError {
  type: string;
  message: string;
}

export type EndedStep = StepExecution & { completedAt: number };

/** One line of a run's log, also a frame of the live stream (Orchestration 6). `ts` is ISO 8601. */
export interface RunEvent {
  seq: number;
  ts: string;
  level: 'info' | 'warn' | 'error';
  event: string;
  msg: string;
  step_name?: string;
  [field: string]: unknown;
}

export const isTerminal = (status: RunStatus): status is TerminalRunStatus =>
  (TERMINAL_RUN_STATUSES as readonly string[]).includes(status);
