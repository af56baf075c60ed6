import { ATTENTION_PRESSES, type AttentionPress } from '../notify/attention-buttons.ts';
import type { SentMessage } from './close-messages.ts';
import { tooLate } from '../runs/human/approval.ts';
import type { Decided, Decider, Verdict } from '../runs/human/approval.ts';

/** Decides as the API does; who pressed stands in the audit log (Orchestration 2.12). */
export type Decide = (id: string, decision: { verdict: Verdict; by: Decider }) => Promise<Decided>;

/** Changes the attention of a run as the API does; answers a sentence, also where it may not be changed so. */
export type Attend = (runId: string, asked: { press: AttentionPress; by: Decider }) => Promise<string>;

export interface Pressing {
  decide: Decide;
  attend: Attend;
  /** Our messages about a question or a run. */
  messages: { ofApproval: MessagesOf; ofRun: MessagesOf };
  /** The chat that the service's bot is to send a message to; null where it will not. */
  roomOf(message: SentMessage): Promise<string | null>;
}

type MessagesOf = (id: string) => Promise<readonly SentMessage[]>;

/** A touch of a button under one of our messages. */
export interface Press {
  platform: 'slack' | 'telegram';
  /** The platform's own id of the person. */
  user: string;
  /** Ids and names of the chat in which it was touched. */
  rooms: readonly string[];
  /** What the button carries; anybody can send anything here. */
  value: string;
}

const VALUE = /^([a-z_]{1,20}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const USER = /^[A-Za-z0-9]{1,64}$/;

/** The result of a button press, in a sentence for its user. Repeated, foreign and stale presses change nothing. */
export async function press({ decide, attend, messages, roomOf }: Pressing, pressed: Press): Promise<string> {
  const { platform, user, value } = pressed;
  const [, word = '', id] = VALUE.exec(value) ?? [];
  const by: Decider = { name: `${platform}:${user}`, kind: 'chat', role: null, requestId: null };
  if (id === undefined || !USER.test(user) || !(isAttention(word) || isDecision(word))) return UNKNOWN;
  const about = await (isDecision(word) ? messages.ofApproval(id) : messages.ofRun(id));
  if (!(await isOffered(about, pressed, roomOf))) return NOT_HERE;
  if (isAttention(word)) return attend(id, { press: word, by });
  const verdict: Verdict = { decision: word, fields: {}, comment: null };
  return sentenceOf(await decide(id, { verdict, by }));
}

/** Some clients send buttons of their own making, also for a question that the message does not show whole. */
async function isOffered(
  about: readonly SentMessage[],
  { platform, rooms, value }: Press,
  roomOf: Pressing['roomOf'],
): Promise<boolean> {
  const offering = about.filter(
    ({ channel, message }) => channel === platform && message.buttons.some((button) => button.value === value),
  );
  for (const sent of offering) if (rooms.includes((await roomWhere(sent, roomOf)) ?? '')) return true;
  return false;
}

/** Where a message is, which its receipt says but for those of an author's own bot, or on its way to. */
const roomWhere = async (sent: SentMessage, roomOf: Pressing['roomOf']) => {
  const { receipt, status } = sent;
  if (receipt === null) return status === 'sent' ? null : roomOf(sent);
  return receipt['channel'] ?? receipt['chat_id'];
};

const NOT_HERE = 'This button is not offered here; act on the page of the run.';
const UNKNOWN = 'This button is not known here.';
const isDecision = (word: string): word is Verdict['decision'] => word === 'approve' || word === 'reject';
const isAttention = (word: string): word is AttentionPress => ATTENTION_PRESSES.some((one) => one === word);

function sentenceOf(decided: Decided): string {
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
