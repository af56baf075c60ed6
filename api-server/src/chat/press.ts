import { tooLate } from '../runs/human/approval.ts';
import type { Decided, Decider, Verdict } from '../runs/human/approval.ts';

/** Decides as the API does; who pressed stands in the audit log (Orchestration 2.12). */
export type Decide = (id: string, decision: { verdict: Verdict; by: Decider }) => Promise<Decided>;

/** A touch of a button under one of our messages. */
export interface Press {
  platform: 'slack' | 'telegram';
  /** The platform's own id of the person. */
  user: string;
  /** What the button carries; anybody can send anything here. */
  value: string;
}

const VALUE = /^(approve|reject):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const USER = /^[A-Za-z0-9]{1,64}$/;

/** The result of a button press, in a sentence for its user. Repeated, foreign and stale presses change nothing. */
export async function press(decide: Decide, { platform, user, value }: Press): Promise<string> {
  const [, decision, id] = VALUE.exec(value) ?? [];
  if (id === undefined || !USER.test(user)) return 'This button is not known here.';
  const verdict: Verdict = { decision: decision as Verdict['decision'], fields: {}, comment: null };
  const by: Decider = { name: `${platform}:${user}`, kind: 'chat', role: null, requestId: null };
  const decided = await decide(id, { verdict, by });
  switch (decided.kind) {
    case 'decided':
      return decided.approval.status === 'approved' ? 'Approved.' : 'Rejected.';
    case 'voted':
      return 'Approved. Another person has to approve too.';
    case 'forbidden':
      return `Not decided: ${decided.message}.`;
    case 'not_found':
      return 'This approval is not known here.';
    case 'conflict':
    case 'expired':
      return `Too late: ${tooLate(decided.approval)}.`;
    case 'invalid':
      return 'This needs more than a button: open the run and fill in the form.';
    default:
      return decided satisfies never;
  }
}
