import type { HumanField } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { Stage } from '../state/model.ts';
import type { Write } from '../state/records.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Attempt } from '../state/step-kind.ts';

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'timed_out', 'cancelled'] as const;
/** `cancelled`: its run or its call ended before a decision. */
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A tool call that needs an approval. */
export interface ToolCall {
  agent: string;
  server: string;
  tool: string;
  /** JSON, as the model wrote it. */
  input: unknown;
  /** What a decision is about: of the canonical JSON of `input`. */
  inputSha256: string;
  reason: string | null;
  /** The backend's run that asks; questions of earlier versions do not say it. */
  backendRunId?: string;
}

export type FieldValues = Record<string, string | number | boolean>;

/** A question to people (Orchestration 3, "Human approval"). Times are milliseconds. */
export interface Approval {
  /** For a human step the id of its execution. */
  id: string;
  runId: string;
  stepName: string;
  kind: 'step' | 'tool';
  pipelineName: string;
  team: string | null;
  stage: Stage;
  question: string;
  fields: HumanField[];
  tool: ToolCall | null;
  status: ApprovalStatus;
  requestedAt: number;
  expiresAt: number;
  decidedAt: number | null;
  /** A token's name, or `<platform>:<user id>`; several, comma-separated, where several persons approved. */
  decidedBy: string | null;
  comment: string | null;
  answers: FieldValues | null;
  /** How many different persons have to approve. */
  required: number;
  /** Whether the person who started the run may not. */
  notTheStarter: boolean;
  /** Approvals that wait for another person's. */
  votes: readonly Vote[];
}

/** One approval of several that are needed. */
export interface Vote {
  by: string;
  at: number;
  comment: string | null;
  answers: FieldValues;
}

/** What a step needs to ask people. */
export interface ApprovalsOfRun {
  /** For the transaction that stores where the question comes from. */
  ask(run: ActiveRun, approval: Approval): Write[];
  /** Resolves once the question is closed: by a decision, by its time or with the signal. */
  answer(approval: Approval, waiting: Pick<Attempt, 'signal' | 'store'>): Promise<Approval>;
  /** For the transaction with which a run goes on. */
  goesOn(run: ActiveRun): Write[];
  find(id: string): Promise<Approval | null>;
}

/** A new approval of a step. */
export const pendingApproval = (
  { run, name }: Pick<StepContext, 'run' | 'name'>,
  asked: Pick<Approval, 'id' | 'kind' | 'question' | 'fields' | 'tool' | 'requestedAt' | 'expiresAt'> &
    Partial<Pick<Approval, 'required' | 'notTheStarter'>>,
): Approval => ({
  required: 1,
  notTheStarter: false,
  ...asked,
  runId: run.id,
  stepName: name,
  pipelineName: run.pipeline.name,
  team: run.team,
  stage: run.stage,
  status: 'pending',
  decidedAt: null,
  decidedBy: null,
  comment: null,
  answers: null,
  votes: [],
});

/** Who decides, for the audit log (Orchestration 2.12). */
export interface Decider {
  name: string;
  kind: 'token' | 'mcp' | 'chat' | 'system';
  role: string | null;
  requestId: string | null;
}

export interface Verdict {
  decision: 'approve' | 'reject';
  fields: Record<string, unknown>;
  comment: string | null;
}

export type Decided =
  | { kind: 'decided'; approval: Approval }
  /** Another person has to approve too. */
  | { kind: 'voted'; approval: Approval }
  /** This person may not decide so. */
  | { kind: 'forbidden'; message: string }
  | { kind: 'not_found' }
  /** It was decided before, or its run has ended; `approval` says by whom and how. */
  | { kind: 'conflict'; approval: Approval }
  | { kind: 'expired'; approval: Approval }
  | { kind: 'invalid'; problems: { loc: string[]; msg: string }[] };

/** The reason why a decision is too late. */
export function tooLate({ status, decidedBy, expiresAt }: Approval): string {
  switch (status) {
    case 'approved':
    case 'rejected':
      return `already ${status} by ${decidedBy ?? 'somebody'}`;
    case 'cancelled':
      return 'the run no longer waits for this approval';
    case 'pending':
    case 'timed_out':
      return `the approval timed out at ${new Date(expiresAt).toISOString()}`;
    default:
      return status satisfies never;
  }
}
