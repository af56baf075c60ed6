import type { NotificationsBlock } from '../config/notifications-schema.ts';
import type { Notification } from './message.ts';

/** The same message to the channel that takes what another did not; null where there is none, or this one was it. */
export function forwardOf(
  { fallback }: Pick<NotificationsBlock, 'fallback'>,
  failed: Notification,
  at: number,
): Notification | null {
  if (!fallback || failed.source.from === 'fallback' || failed.insteadOf !== null) return null;
  const note = { kind: 'value' as const, text: `\n(${failed.channel} did not take this message)` };
  return {
    ...failed,
    id: `${failed.id}/fallback/${at}`,
    channel: fallback.channel,
    source: { from: 'fallback' },
    // A button belongs to the chat that was asked; the link leads to the same question.
    message: { ...failed.message, text: [...failed.message.text, note], link: failed.message.url, buttons: [] },
    createdAt: at,
  };
}
