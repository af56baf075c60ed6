import { inputSha256 } from '@signalbox/crds';
import type { Counter } from '../../runs/state/records.ts';
import type { AuditEntry } from '../../store/tables/audit.ts';
import type { Decision } from '../../store/tables/approvals.ts';
import { checkFields } from '../../runs/human/fields.ts';
import type { Approval, Decided, Decider, FieldValues, Verdict, Vote } from '../../runs/human/approval.ts';
import { auditEntry } from '../audit/record.ts';
import { type ApproverRules, refusalOf, underRules, withoutStarter } from './approvers.ts';

export interface DecideDeps {
  rules: ApproverRules;
  find(id: string): Promise<Approval | null>;
  /** Who started a run; null for an alert or a schedule. */
  starter(runId: string): Promise<string | null>;
  /** Whether the run waits for an answer here, and closes the approval itself when its time is over. */
  isOpen(id: string): boolean;
  /** One durable transaction; false when the approval was decided, had timed out or got another vote meanwhile. */
  record(decision: Decision, audit: AuditEntry, counters: Counter[]): Promise<boolean>;
  /** The same for an approval of which another is needed; `seen` are the votes that were stored before. */
  vote(votes: { seen: readonly Vote[]; now: readonly Vote[] }, audit: AuditEntry): Promise<boolean>;
  now(): number;
}

interface Asked {
  verdict: Verdict;
  by: Decider;
}

/** A decision that is allowed, with the votes that are stored. */
interface Given extends Asked {
  given: Vote;
  seen: readonly Vote[];
}

const STATUS = { approve: 'approved', reject: 'rejected' } as const;
/** How often a decision is judged again because another vote came first. */
const TRIES = 5;

/**
 * Stores a decision with its audit row and its metric in one transaction; the first one wins. Where two persons have to
 * approve, the first one's approval is kept until the second one's.
 */
export async function decide(deps: DecideDeps, id: string, asked: Asked): Promise<Decided> {
  for (let tries = 0; tries < TRIES; tries++) {
    const decided = await tryOnce(deps, id, asked);
    if (decided !== null) return decided;
  }
  return lost(deps, id);
}

/** Null where something else was stored between reading and writing. */
async function tryOnce(deps: DecideDeps, id: string, { verdict, by }: Asked): Promise<Decided | null> {
  const stored = await deps.find(id);
  const at = deps.now();
  if (stored === null) return { kind: 'not_found' };
  const tooLate = closed(deps, stored, at);
  if (tooLate) return tooLate;
  const { notTheStarter } = underRules(stored, deps.rules);
  const starter = notTheStarter ? await deps.starter(stored.runId) : null;
  const approval = withoutStarter(underRules(stored, deps.rules), starter, deps.rules);
  const refusal = refusalOf(deps.rules, { approval, decision: verdict.decision, by, starter });
  if (refusal !== null) return { kind: 'forbidden', message: refusal };
  const checked = checkFields(approval.fields, verdict);
  if (!checked.ok) return { kind: 'invalid', problems: checked.problems };
  const approves = verdict.decision === 'approve';
  const problems = approves ? differences(approval, checked.values) : [];
  if (problems.length > 0) return { kind: 'invalid', problems };
  const given: Vote = { by: by.name, at, comment: verdict.comment, answers: checked.values };
  const isFirst = approves && approval.votes.length + 1 < approval.required;
  const decision = { verdict, by, given, seen: stored.votes };
  return isFirst ? keepVote(deps, approval, decision) : conclude(deps, approval, decision);
}

/** Persons who approve together approve the same. */
function differences({ votes }: Approval, values: FieldValues) {
  const [first] = votes;
  if (!first) return [];
  const names = [...new Set([...Object.keys(first.answers), ...Object.keys(values)])];
  return names
    .filter((name) => first.answers[name] !== values[name])
    .map((name) => ({ loc: ['fields', name], msg: `must be ${String(first.answers[name])}, as ${first.by} approved` }));
}

async function keepVote(deps: DecideDeps, approval: Approval, { by, given, seen }: Given): Promise<Decided | null> {
  const votes = [...approval.votes, given];
  const outcome = `approved, ${votes.length} of ${approval.required}`;
  const audit = auditOf(approval, by, { at: given.at, action: 'approve', outcome });
  const kept = await deps.vote({ seen, now: votes }, audit);
  return kept ? { kind: 'voted', approval: { ...approval, votes } } : null;
}

async function conclude(
  deps: DecideDeps,
  approval: Approval,
  { verdict, by, given, seen }: Given,
): Promise<Decided | null> {
  const { at, comment, answers } = given;
  const status = STATUS[verdict.decision];
  const votes = status === 'approved' ? approval.votes : [];
  const decidedBy = [...votes.map((vote) => vote.by), by.name].join(', ');
  const decision = { id: approval.id, status, at, by: decidedBy, comment, answers, votes: seen };
  const audit = auditOf(approval, by, { at, action: verdict.decision, outcome: status });
  if (!(await deps.record(decision, audit, counters(approval, status)))) return null;
  return { kind: 'decided', approval: { ...approval, status, decidedAt: at, decidedBy, comment, answers } };
}

async function lost(deps: DecideDeps, id: string): Promise<Decided> {
  const approval = await deps.find(id);
  if (approval === null) return { kind: 'not_found' };
  return closed(deps, approval, deps.now()) ?? { kind: 'conflict', approval };
}

function closed({ isOpen }: Pick<DecideDeps, 'isOpen'>, approval: Approval, at: number): Decided | null {
  if (approval.status === 'timed_out') return { kind: 'expired', approval };
  if (approval.status !== 'pending') return { kind: 'conflict', approval };
  return approval.expiresAt <= at && !isOpen(approval.id) ? { kind: 'expired', approval } : null;
}

/** With the hash of what was decided: the input of the tool, or the question. */
const auditOf = (
  { id, runId, stepName, tool, question }: Approval,
  by: Decider,
  { at, ...done }: Pick<AuditEntry, 'action' | 'outcome'> & { at: number },
): AuditEntry =>
  auditEntry(by, at, {
    ...done,
    targetType: 'approval',
    target: `${id} ${stepName} sha256:${tool?.inputSha256 ?? inputSha256(question)}`,
    runId,
  });

const counters = ({ stage, team, pipelineName }: Approval, status: 'approved' | 'rejected'): Counter[] =>
  stage === 'production'
    ? [{ metric: 'human_approval_decisions_total', labels: [team ?? '', pipelineName, status], value: 1 }]
    : [];
