import { MRKDWN } from './channels/slack.ts';
import { HTML } from './channels/telegram.ts';
import { clean, type Markup, markUp } from './fit.ts';
import type { Message } from './message.ts';

const MARKUPS: Readonly<Record<string, Markup>> = { slack: MRKDWN, telegram: HTML };
const WHY_NOT = 'Approve on the page: this message does not show all that is asked.\n';

/** The message with its Approve button only where the channel shows `asked` whole; else it says why not and links to the page. */
export function offerApprove(message: Message, channel: string, asked: string | null): Message {
  const markup = MARKUPS[channel];
  if (asked === null || !markup || message.buttons.length === 0) return message;
  if (clean(asked) === asked && markUp(message, markup).includes(markup.escape(asked))) return message;
  return {
    ...message,
    text: [{ kind: 'strong', text: WHY_NOT }, ...message.text],
    link: message.url,
    buttons: message.buttons.filter(({ style }) => style !== 'primary'),
  };
}
