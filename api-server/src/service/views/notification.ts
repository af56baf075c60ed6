import { z } from 'zod';
import { type ListedNotification, NOTIFICATION_STATUSES } from '../../store/tables/notification-list.ts';
import { component, iso, NullableText, Time, viewOf } from './answer.ts';
import { TriedRequest } from './step.ts';

const LINE = {
  id: '01a1febd-87d9-73c1-984a-8e11a3329cb6/escalate/0',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  pipeline_name: 'checkout-errors',
  event: 'escalate',
  channel: 'slack',
  status: 'pending',
  attempts: 3,
  error: 'slack: answered 503',
  created_at: '2026-11-02T09:31:12.000Z',
  ended_at: null,
  next_try_at: '2026-11-02T09:31:30.000Z',
  tries: null,
} as const;

const Tried = z.strictObject({
  at: Time,
  /** Null where it was delivered. */
  error: NullableText,
  /** Without secrets; null where nothing was sent. */
  request: TriedRequest.nullable(),
});

/** A message to a channel and whether it arrived. `forwarded`: given up, the fallback channel has it. */
export const NotificationLine = component(
  'Notification',
  z.strictObject({
    id: z.string(),
    run_id: NullableText,
    pipeline_name: z.string(),
    event: z.string(),
    channel: z.string(),
    status: z.enum(NOTIFICATION_STATUSES),
    /** Tries without success, and the successful one. */
    attempts: z.number(),
    error: NullableText,
    created_at: Time,
    ended_at: Time.nullable(),
    next_try_at: Time.nullable(),
    /** The last ones; null where none is known. */
    tries: z.array(Tried).nullable(),
  }),
  LINE,
);
export type NotificationLine = z.infer<typeof NotificationLine>;

export const NotificationList = component(
  'NotificationList',
  z.strictObject({ notifications: z.array(NotificationLine) }),
  { notifications: [LINE] },
);
export type NotificationList = z.infer<typeof NotificationList>;

export const NotificationChanged = component(
  'NotificationChanged',
  z.strictObject({ status: z.enum(['pending', 'dismissed']), id: z.string() }),
  { status: 'pending', id: LINE.id },
);
export type NotificationChanged = z.infer<typeof NotificationChanged>;

export const notificationLine = (one: ListedNotification): NotificationLine =>
  viewOf(NotificationLine, one, {
    tries: one.tries && one.tries.map(({ at, ...tried }) => ({ ...tried, at: iso(at) })),
  });
