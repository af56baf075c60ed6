import { MRKDWN } from './channels/slack.ts';
import { HTML } from './channels/telegram.ts';
import { clean, type Markup, markUp } from './fit.ts';
import type { Message } from './message.ts';

const MARKUPS: Readonly<Record<string, Markup>> = { slack: MRKDWN, telegram: HTML };
const WHY_NOT = 'Approve on the page: this message does not show all that is asked.\n';

/** What people are asked: a tool and its input, or the question of a step. */
export interface Asked {
  text: string;
  isCall: boolean;
}

/** The message with its Approve button only where the channel shows what is asked whole; else it says why not and links to the page. */
export function offerApprove(message: Message, channel: string, asked: Asked | null): Message {
  const markup = MARKUPS[channel];
  if (asked === null || !markup || message.buttons.length === 0) return message;
  if (showsAll(message, markup, asked.text) && (!asked.isCall || showsAsWritten(message, markup, asked.text)))
    return message;
  return {
    ...message,
    text: [{ kind: 'strong', text: WHY_NOT }, ...message.text],
    link: message.url,
    buttons: message.buttons.filter(({ style }) => style !== 'primary'),
  };
}

const showsAll = (message: Message, markup: Markup, asked: string): boolean =>
  clean(asked) === asked && markUp(message, markup).includes(markup.escape(asked));

/** No sign of the input is taken for formatting, and no markup of an author hides the input, for example as a spoiler. */
const showsAsWritten = ({ text }: Message, { escape, formatting }: Markup, asked: string): boolean => {
  const byAuthor = text.filter(({ kind }) => kind === 'author').map((segment) => segment.text);
  return ![asked, ...byAuthor].some((one) => formatting.test(one)) && byAuthor.every((one) => escape(one) === one);
};
