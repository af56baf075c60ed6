import type { Pipeline } from '@signalbox/crds';
import type { Outcome, StepExecution, StepStatus, TriggerContext } from './model.ts';
import type { Run } from './model.ts';
import type { StepView } from './step-results.ts';

/** Sources of the runs that hold a batch of replays (Orchestration 4.6, rule 5). */
export const REPLAY_SOURCES = ['replay', 'regression'] as const;
export type ReplaySource = (typeof REPLAY_SOURCES)[number];

/** How a replayed sample ended (Orchestration 3). */
export const GRADES = ['completed', 'deterministic_failed', 'execution_failed', 'unreplayable'] as const;
export type Grade = (typeof GRADES)[number];

export const REPLAY_MODES = ['rendered', 'rerender'] as const;
export type ReplayMode = (typeof REPLAY_MODES)[number];

/** What identifies a step's configuration in use (Orchestration 2.9). */
export interface ReplayBucket {
  agent: string | null;
  model: string | null;
  provider: string | null;
  promptHash: string | null;
  agentVersion: string | null;
}

/** What the candidate changes of a step. */
export interface Candidate {
  agent?: string;
  model?: string;
  promptTemplate?: string;
}

/** The judge as it was configured when the batch was launched. */
export interface JudgeRule {
  executor: string;
  agent: string;
  timeoutSeconds: number;
  /** Longest text of each side. */
  maxOutputChars: number;
}

/** One step, replayed for many recorded executions. A null bucket: the samples were chosen one by one. */
export interface StepReplay {
  kind: 'step';
  stepName: string;
  mode: ReplayMode;
  bucket: ReplayBucket | null;
  candidate: Candidate;
  k: number;
  judge: JudgeRule | null;
  /** Names of the checks that send requests which may change something; absent in batches of before they were left out. */
  checksNotRun?: string[];
}

/** A contiguous range of steps, replayed for many recorded runs; each step is fed by the replayed ones before it. */
export interface ChainReplay {
  kind: 'chain';
  pipelineName: string;
  fromStep: string;
  toStep: string;
  /** By step name. */
  candidate: Record<string, Candidate>;
  k: number;
  /** Names of the steps that ask an agent, in their order. */
  asked: string[];
  /** Names of the checks of each step that may change something, which a chain does not run. */
  checksNotRun: Record<string, string[]>;
}

/** What a batch replays: the `replay_of` of its run. */
export type Replay = StepReplay | ChainReplay;

/** Where the label of a recorded execution is from: its own mark, a failed check, the mark of its run. */
export type RecordedLabelSource = 'human' | 'deterministic' | 'run';

/** Why the judge gave no verdict. */
export type JudgeSkip =
  | 'recorded_incorrect'
  | 'recorded_partial'
  | 'recorded_unlabelled'
  | 'deterministic_failed'
  | 'execution_failed'
  | 'unreplayable'
  | 'judge_failed'
  | 'judge_timeout'
  | 'judge_invalid';

/** What the judge said of one sample, and what it used; a null cost is unpriced. */
export interface Judgement {
  verdict: Outcome | null;
  reason: string | null;
  skipped: JudgeSkip | null;
  model: string | null;
  provider: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cost: number | null;
}

export const NO_JUDGEMENT: Judgement = {
  verdict: null,
  reason: null,
  skipped: null,
  model: null,
  provider: null,
  inputTokens: null,
  outputTokens: null,
  cost: null,
};

/** One sample of a batch. `outcome` is its label at the launch; a pinned one stays what it is. */
export interface ReplaySample {
  position: number;
  /** The recorded execution; null in a chain, whose samples are runs. */
  stepId: string | null;
  sourceRunId: string | null;
  outcome: Outcome | null;
  labelSource: RecordedLabelSource | null;
  pinned: boolean;
  /** Why it could not be replayed. */
  reason: string | null;
  judgement: Judgement | null;
}

export interface ReplayBatch {
  replay: Replay;
  samples: ReplaySample[];
}

/** An execution as the texts of later steps see it. */
export type RecordedStep = Pick<StepExecution, 'stepName' | 'stepIndex' | 'startedAt' | 'completedAt'> & {
  view: StepView;
};

/** A recorded run with all of its executions: what a prompt is rendered against. */
export interface RecordedRun {
  run: Pick<Run, 'id' | 'team' | 'stage' | 'triggeredAt'>;
  pipeline: Pipeline;
  context: TriggerContext;
  steps: RecordedStep[];
  /** Of the fan-out that was asked for. */
  items: unknown;
}

export interface RecordedOf {
  runId: string;
  /** The fan-out whose items are read, too. */
  fanOut: string | null;
}

const ANSWERED: ReadonlySet<StepStatus> = new Set(['completed', 'stopped', 'escalated']);

/** The grade of an ended candidate; a cancelled one has none. */
export function gradeOf({
  status,
  deterministicPassed,
}: Pick<StepExecution, 'status' | 'deterministicPassed'>): Exclude<Grade, 'unreplayable'> | null {
  if (status === 'running' || status === 'cancelled' || status === 'skipped') return null;
  if (deterministicPassed === false) return 'deterministic_failed';
  return ANSWERED.has(status) ? 'completed' : 'execution_failed';
}

/** The name of a candidate's row, in the form of a fan-out branch. */
export const candidateName = (stepName: string, position: number): string => `${stepName}/${position}`;
