import { headline } from './compose.ts';
import type { Notification, Segment } from './message.ts';

export const firstReminder = (runId: string): string => `${runId}/remind/1`;

/** A message that says that it reminds, also in the words of an author, and when the next one is due. */
export function asReminder(notification: Notification, repeatMs: number): Notification {
  const { message } = notification;
  const head: Segment = { kind: 'strong', text: headline(message) };
  const saysSo = message.text[0]?.kind === 'strong' && message.text[0].text === head.text;
  const text = saysSo ? message.text : [head, { kind: 'value' as const, text: '\n' }, ...message.text];
  return { ...notification, message: { ...message, text, repeatMs } };
}

/** The one after this reminder; null for what is no reminder, or was sent in the place of one. */
export function nextReminder(notification: Notification, at: number): Notification | null {
  const { id, message, source } = notification;
  if (message.repeatMs === undefined || source.from === 'fallback') return null;
  const next = id.replace(/\/(\d+)(\/\d+)$/, (_, count: string, index: string) => `/${Number(count) + 1}${index}`);
  return { ...notification, id: next, createdAt: at + message.repeatMs };
}
