import { createEscalations } from '../service/attention/attention.ts';
import { createApprovals } from '../service/approvals/approvals.ts';
import { wireChats } from './chats.ts';
import type { Foundation } from './foundation.ts';
import { wireNotifications } from './notifications.ts';
import type { ServiceOptions } from './options.ts';

/** Approvals, notifications and chats. */
export type People = ReturnType<typeof reachPeople>;

export function reachPeople(options: ServiceOptions, foundation: Foundation) {
  const { database, now } = foundation;
  const notifications = wireNotifications(options, foundation);
  const approvals = createApprovals({
    database,
    rules: options.config.approvals,
    announce: notifications.approvalAsked,
    now,
  });
  const escalations = createEscalations({ database, now });
  const chats = wireChats(options, foundation, { approvals, escalations });
  return { notifications, approvals, escalations, chats };
}
