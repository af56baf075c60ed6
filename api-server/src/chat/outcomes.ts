import { attentionButtons } from '../notify/attention-buttons.ts';
import { type Approval, tooLate } from '../runs/human/approval.ts';
import type { Attention } from '../runs/state/attention.ts';
import type { Outcome } from './close-messages.ts';

type Messages = Outcome['messages'];

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** A question that is closed has no buttons any more. */
export function outcomeOfApproval(approval: Approval, messages: Messages): Outcome {
  const said = approval.comment === null ? '' : `: ${approval.comment}`;
  return {
    runId: approval.runId,
    messages,
    sentence: `${capital(tooLate(approval).replace(/^already /, ''))}${said}`,
    buttons: [],
  };
}

interface Changed {
  runId: string;
  attention: Attention;
  by: string;
}

/** A run that somebody looks at keeps the buttons for what can be done next. */
export const outcomeOfRun = ({ runId, attention, by }: Changed, messages: Messages): Outcome => ({
  runId,
  messages,
  sentence: `${WORDS[attention.state](attention, by)}${attention.note === null ? '' : `: ${attention.note}`}`,
  buttons: attentionButtons(runId, attention.state),
});

const RESOLVED = {
  handled: 'Resolved',
  false_alarm: 'Resolved as a false alarm',
  wont_fix: 'Resolved, will not be fixed',
};

const WORDS: Record<Attention['state'], (attention: Attention, by: string) => string> = {
  open: (_, by) => `Opened again by ${by}`,
  acknowledged: ({ assignee }, by) =>
    `Acknowledged by ${by}${assignee === null || assignee === by ? '' : `, assigned to ${assignee}`}`,
  resolved: ({ resolution }, by) => `${RESOLVED[resolution ?? 'handled']} by ${by}`,
};
