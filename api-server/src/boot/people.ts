import type { Chats } from '../chat/chats.ts';
import type { Notifications } from '../notify/notifications.ts';
import { type Approvals, createApprovals } from '../service/approvals/approvals.ts';
import { wireChats } from './chats.ts';
import type { Foundation } from './foundation.ts';
import { wireNotifications } from './notifications.ts';
import type { ServiceOptions } from './options.ts';

/** Approvals, notifications and chats. */
export interface People {
  notifications: Notifications;
  approvals: Approvals;
  chats: Chats;
}

export function reachPeople(options: ServiceOptions, foundation: Foundation): People {
  const { database, now } = foundation;
  const notifications = wireNotifications(options, foundation);
  const approvals = createApprovals({
    database,
    rules: options.config.approvals,
    announce: notifications.approvalAsked,
    now,
  });
  return { notifications, approvals, chats: wireChats(options, foundation, approvals) };
}
