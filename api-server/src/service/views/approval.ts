import { z } from 'zod';
import { APPROVAL_STATUSES, type Approval as StoredApproval } from '../../runs/human/approval.ts';
import { STAGES } from '../../runs/state/model.ts';
import { component, NullableText, Time, viewOf } from './answer.ts';
export { indentedJson, type LinePart, readableJson, readableLine, readableText } from '../../runs/human/call-text.ts';

const Value = z.union([z.string(), z.number(), z.boolean()]);

/** What a person may fill in; the values become the output of a human step. */
export const ApprovalField = z.strictObject({
  name: z.string(),
  type: z.enum(['string', 'integer', 'number', 'boolean']),
  description: z.string().optional(),
  required: z.boolean(),
  options: z.array(z.union([z.string(), z.number()])).optional(),
  default: Value.optional(),
});
export type ApprovalField = z.infer<typeof ApprovalField>;

const ONE = {
  id: '01a1febd-8f02-7be1-a2f7-51a2b6c7d8e9',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  pipeline: 'checkout-errors',
  step_name: 'approve',
  team: 'payments',
  stage: 'production',
  kind: 'step',
  question: 'Restart checkout?',
  fields: [{ name: 'replicas', type: 'integer', required: false, default: 2 }],
  tool: null,
  requested_at: '2026-11-02T09:14:30.000Z',
  expires_at: '2026-11-02T09:29:30.000Z',
  status: 'pending',
  decided_at: null,
  decided_by: null,
  comment: null,
  answers: null,
  required: 1,
  approved_by: [],
  not_the_starter: false,
  approvers: null,
} as const;

const ApprovedTool = z.strictObject({
  agent: z.string(),
  server: z.string(),
  tool: z.string(),
  input: z.unknown(),
  /** SHA-256 (hex) over the RFC 8785 JSON of `input`: what a decision is about. */
  input_sha256: z.string(),
  reason: NullableText,
});

/** A question to people and what became of it (Orchestration 3, "Human approval"). */
export const ApprovalLine = component(
  'Approval',
  z.strictObject({
    id: z.string(),
    run_id: z.string(),
    pipeline: z.string(),
    step_name: z.string(),
    team: NullableText,
    stage: z.enum(STAGES),
    kind: z.enum(['step', 'tool']),
    question: z.string(),
    fields: z.array(ApprovalField),
    /** The tool call that needs the approval. */
    tool: ApprovedTool.nullable(),
    requested_at: Time,
    expires_at: Time,
    status: z.enum(APPROVAL_STATUSES),
    decided_at: Time.nullable(),
    /** A token's name, or `<platform>:<user id>`. */
    decided_by: NullableText,
    comment: NullableText,
    answers: z.record(z.string(), Value).nullable(),
    /** How many different persons have to approve, and who did so far. */
    required: z.int(),
    approved_by: z.array(z.string()),
    /** Whether the person who started the run may not approve. */
    not_the_starter: z.boolean(),
    /** Tokens and `<platform>:<user id>` that may decide; null for every operator. */
    approvers: z.array(z.string()).nullable(),
  }),
  { ...ONE, fields: [...ONE.fields], approved_by: [] },
);
export type ApprovalLine = z.infer<typeof ApprovalLine>;

export const ApprovalsPage = component(
  'ApprovalsPage',
  z.strictObject({ approvals: z.array(ApprovalLine), limit: z.number(), offset: z.number(), total: z.number() }),
  { approvals: [{ ...ONE, fields: [...ONE.fields], approved_by: [] }], limit: 50, offset: 0, total: 1 },
);
export type ApprovalsPage = z.infer<typeof ApprovalsPage>;

export const approvalView = (approval: StoredApproval, approvers: string[] | null): ApprovalLine =>
  viewOf(ApprovalLine, approval, {
    pipeline: approval.pipelineName,
    approved_by: approval.votes.map(({ by }) => by),
    approvers,
    tool: approval.tool && viewOf(ApprovedTool, approval.tool),
  });
