import type { ApprovalsConfig } from '../../config/config.ts';
import type { Approval, Decider, Verdict } from '../../runs/human/approval.ts';

/** Who may decide approvals, by the operator's configuration. */
export type ApproverRules = ApprovalsConfig;

/** The persons who may decide in a team; null for everybody. */
export function personsOf({ approvers }: ApproverRules, team: string | null): readonly (readonly string[])[] | null {
  if (approvers === null) return null;
  return approvers.get(team ?? 'default') ?? approvers.get('default') ?? [];
}

/** A person by one of the names; two names are one person where any list says so, also over a third name. */
export function personOf({ approvers }: ApproverRules, name: string): string {
  const lists = [...(approvers?.values() ?? [])].flat();
  const names = new Set([name]);
  // A set that grows while it is read is read to its end.
  for (const known of names) for (const list of lists) if (list.includes(known)) list.forEach((one) => names.add(one));
  return [...names].toSorted()[0] ?? name;
}

/** What a step asks for may only add to what the operator asks for. */
export const tightened = (approval: Approval, { required, notTheStarter }: ApproverRules): Approval => ({
  ...approval,
  required: Math.max(approval.required, required),
  notTheStarter: approval.notTheStarter || notTheStarter,
});

/**
 * A pending approval by the rules of now, which may be stricter than those it was stored under: approvals of persons who are no approvers
 * any more do not count.
 */
export function underRules(approval: Approval, rules: ApproverRules): Approval {
  if (approval.status !== 'pending') return approval;
  const votes = approval.votes.filter(({ by }) => strangerTo(rules, approval.team, by) === null);
  return { ...tightened(approval, rules), votes };
}

/** The same without the starter's own approval, which counted until the rules asked for another person's. */
export function withoutStarter(approval: Approval, starter: string | null, rules: ApproverRules): Approval {
  if (starter === null) return approval;
  const person = personOf(rules, starter);
  return { ...approval, votes: approval.votes.filter(({ by }) => personOf(rules, by) !== person) };
}

/** The names of those who approved together. */
function approversOf({ votes, decidedBy }: Approval): string[] {
  const first = votes.map(({ by }) => by);
  const beginning = first.map((by) => `${by}, `).join('');
  if (decidedBy === null) return [];
  return decidedBy.startsWith(beginning) ? [...first, decidedBy.slice(beginning.length)] : [decidedBy];
}

/** Whether enough persons approved for a run of this starter, by the rules of now. */
export function holdsFor(approval: Approval, starter: string, rules: ApproverRules): boolean {
  if (approval.status !== 'approved') return false;
  const votes = approversOf(approval).map((by) => ({ by, at: approval.requestedAt, comment: null, answers: {} }));
  const asked = underRules({ ...approval, status: 'pending', votes }, rules);
  const counted = withoutStarter(asked, asked.notTheStarter ? starter : null, rules).votes;
  return new Set(counted.map(({ by }) => personOf(rules, by))).size >= asked.required;
}

interface Case {
  approval: Approval;
  decision: Verdict['decision'];
  by: Pick<Decider, 'name'>;
  /** Who started the run; null for an alert or a schedule. */
  starter: string | null;
}

/** Why this name may not act for the team; null where it is one of its approvers, or everybody may. */
export function strangerTo(rules: ApproverRules, team: string | null, name: string): string | null {
  const persons = personsOf(rules, team);
  if (persons === null || persons.some((names) => names.includes(name))) return null;
  return `${name} is not an approver of team ${team ?? 'default'}`;
}

/** Why this person may not decide so; null where it may. Rejecting is open to every approver, the starter included. */
export function refusalOf(rules: ApproverRules, { approval, decision, by, starter }: Case): string | null {
  const stranger = strangerTo(rules, approval.team, by.name);
  if (stranger !== null) return stranger;
  if (decision === 'reject') return null;
  const person = personOf(rules, by.name);
  if (approval.notTheStarter && starter !== null && personOf(rules, starter) === person)
    return `${by.name} started the run; another person has to approve`;
  if (approval.votes.some((vote) => personOf(rules, vote.by) === person))
    return `${by.name} approved already; another person has to approve too`;
  return null;
}
