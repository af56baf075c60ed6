import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import type { Database } from '../../store/db/database.ts';
import {
  dismissNotification,
  listNotifications,
  NOTIFICATION_STATUSES,
  resendNotification,
} from '../../store/tables/notification-list.ts';
import type { Actor } from '../actor.ts';
import { recordIn } from '../audit/record.ts';
import { count, RunId } from '../fields.ts';
import { type NotificationChanged, notificationLine, type NotificationList } from '../views/notification.ts';

export const NotificationsQuery = z.strictObject({
  status: z.enum(NOTIFICATION_STATUSES).optional(),
  run: RunId.optional(),
  limit: count(1, 200).default(50),
});
export type NotificationsQuery = z.output<typeof NotificationsQuery>;

/** The messages of runs: whether they arrived (Orchestration 6). */
export interface NotificationLog {
  /** The newest first. */
  list(query: NotificationsQuery): Promise<NotificationList>;
  /** Has a message tried at once, from its first try. Throws `not_found`, and `conflict` where it was sent or dismissed. */
  resend(id: string, actor: Actor): Promise<NotificationChanged>;
  /** Leaves a message unsent: it is no longer tried and no longer warned of. Throws like `resend`. */
  dismiss(id: string, actor: Actor): Promise<NotificationChanged>;
}

export interface NotificationLogDeps {
  database: Database;
  /** Has the outbox looked at soon. */
  sendSoon(): void;
  now(): number;
}

/** How long the search for a rare status may take. */
const LIST_MS = 30_000;

const CHANGES = {
  resend: { change: resendNotification, status: 'pending' },
  dismiss: { change: dismissNotification, status: 'dismissed' },
} as const;

export function createNotificationLog({ database, sendSoon, now }: NotificationLogDeps): NotificationLog {
  const perform = (action: keyof typeof CHANGES) => async (id: string, actor: Actor) => {
    const { change, status } = CHANGES[action];
    await database.write(async (tx) => {
      const before = await change(tx, id, now());
      if (before === null) throw new AppError('not_found', 'there is no notification with this id');
      if (before === 'sent' || before === 'dismissed') throw new AppError('conflict', `the notification was ${before}`);
      await recordIn(tx, actor, now(), { action, targetType: 'notification', target: id, outcome: status });
    });
    sendSoon();
    return { status, id };
  };
  return {
    list: async ({ limit, ...filter }) => {
      const from = filter.status === undefined ? database.db : database.reader(AbortSignal.timeout(LIST_MS));
      return { notifications: (await listNotifications(from, filter, limit)).map(notificationLine) };
    },
    resend: perform('resend'),
    dismiss: perform('dismiss'),
  };
}
