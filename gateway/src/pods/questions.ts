import { createHash } from 'node:crypto';
import type { ToolApprovalResult } from '@signalbox/crds';
import { shortId } from '../runs/run.ts';
import type { ToolCallAsk } from '../runner/protocol.ts';
import { forLastAsker } from './last-asker.ts';

/** Questions of one run that were not followed by their call. */
const MAX_QUESTIONS = 64;
const TOO_MANY: ToolApprovalResult = {
  approved: false,
  comment: `a run asks people ${MAX_QUESTIONS} questions at most`,
};

const ASKED_AGAIN: ToolApprovalResult = { approved: false, comment: 'the question was sent again' };

export type CallName = Pick<ToolCallAsk, 'call_id' | 'server' | 'tool'>;

/** Identifies a question without keeping it. */
export function questionKey(call: CallName, input: unknown): string {
  const text = JSON.stringify([shortId(call.call_id), call.server, call.tool, input]);
  return createHash('sha256').update(text).digest('base64');
}

/** What people were asked about calls of one run, by the keys of the questions. */
export class Questions {
  private readonly answers = new Map<string, () => Promise<ToolApprovalResult>>();
  private readonly approved = new Set<string>();

  get(key: string): Promise<ToolApprovalResult> | undefined {
    return this.answers.get(key)?.();
  }

  async ask(key: string, askPeople: () => Promise<ToolApprovalResult>): Promise<ToolApprovalResult> {
    const known = this.get(key);
    if (known) return known;
    if (this.answers.size >= MAX_QUESTIONS) return TOO_MANY;
    const said = askPeople().then((answer) => {
      if (answer.approved) this.approved.add(key);
      return answer;
    });
    const answer = forLastAsker(said, ASKED_AGAIN);
    this.answers.set(key, answer);
    return answer();
  }

  /** Whether a call is approved. An approval is valid for one call; the next equal call needs another one. */
  use(key: string): boolean {
    return this.approved.delete(key) && this.answers.delete(key);
  }
}
