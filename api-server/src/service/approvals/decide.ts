import type { Counter } from '../../runs/state/records.ts';
import type { AuditEntry } from '../../store/tables/audit.ts';
import type { Decision } from '../../store/tables/approvals.ts';
import { checkFields } from '../../runs/human/fields.ts';
import type { Approval, Decided, Decider, Verdict } from '../../runs/human/approval.ts';

export interface DecideDeps {
  find(id: string): Promise<Approval | null>;
  /** One durable transaction; false when the approval was already decided or had timed out. */
  record(decision: Decision, audit: AuditEntry, counters: Counter[]): Promise<boolean>;
  now(): number;
}

const STATUS = { approve: 'approved', reject: 'rejected' } as const;

/** Stores a decision with its audit row and its metric in one transaction; the first one wins. */
export async function decide(
  deps: DecideDeps,
  id: string,
  { verdict, by }: { verdict: Verdict; by: Decider },
): Promise<Decided> {
  const found = await deps.find(id);
  const at = deps.now();
  const refused = found === null ? ({ kind: 'not_found' } as const) : closed(found, at);
  if (refused || found === null) return refused ?? { kind: 'not_found' };
  const checked = checkFields(found.fields, verdict);
  if (!checked.ok) return { kind: 'invalid', problems: checked.problems };
  const status = STATUS[verdict.decision];
  const decision = { id, status, at, by: by.name, comment: verdict.comment, answers: checked.values };
  if (await deps.record(decision, auditOf(found, by, decision), counters(found, status))) {
    const { by: decidedBy, comment, answers } = decision;
    return { kind: 'decided', approval: { ...found, status, decidedAt: at, decidedBy, comment, answers } };
  }
  const now = await deps.find(id);
  return now === null ? { kind: 'not_found' } : (closed(now, at) ?? { kind: 'expired', approval: now });
}

function closed(approval: Approval, at: number): Decided | null {
  if (approval.status === 'timed_out') return { kind: 'expired', approval };
  if (approval.status !== 'pending') return { kind: 'conflict', approval };
  return approval.expiresAt <= at ? { kind: 'expired', approval } : null;
}

const auditOf = ({ id, runId, stepName, tool }: Approval, by: Decider, { status, at }: Decision): AuditEntry => ({
  ts: at,
  actor: by.name,
  actorKind: by.kind,
  role: by.role,
  action: status === 'approved' ? 'approve' : 'reject',
  targetType: 'approval',
  target: `${id} ${stepName}${tool === null ? '' : ` sha256:${tool.inputSha256}`}`,
  runId,
  outcome: status,
  priorYaml: null,
  requestId: by.requestId,
});

const counters = ({ stage, team, pipelineName }: Approval, status: 'approved' | 'rejected'): Counter[] =>
  stage === 'production'
    ? [{ metric: 'human_approval_decisions_total', labels: [team ?? '', pipelineName, status], value: 1 }]
    : [];
