import type { HumanField } from '@signalbox/crds';
import type { Stage } from '../state/model.ts';

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'timed_out', 'cancelled'] as const;
/** `cancelled`: its run or its call ended before anybody decided. */
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A call that an agent may make once somebody allows it. */
export interface ToolCall {
  agent: string;
  server: string;
  tool: string;
  /** JSON, as the model wrote it. */
  input: unknown;
  reason: string | null;
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
  /** A token's name, or `<platform>:<user id>`. */
  decidedBy: string | null;
  comment: string | null;
  answers: FieldValues | null;
}

/** Who decides, for the audit log (Orchestration 2.12). */
export interface Decider {
  name: string;
  kind: 'token' | 'chat';
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
  | { kind: 'not_found' }
  /** Somebody was first, or the run went away; `approval` says who and how. */
  | { kind: 'conflict'; approval: Approval }
  | { kind: 'expired'; approval: Approval }
  | { kind: 'invalid'; problems: { loc: string[]; msg: string }[] };
