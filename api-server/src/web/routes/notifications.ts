import { z } from 'zod';
import { NotificationsQuery } from '../../service/notifications/notifications.ts';
import type { Services } from '../../service/services.ts';
import { NotificationChanged, NotificationList } from '../../service/views/notification.ts';
import { route, type Route } from '../route.ts';

/** Ids contain slashes, which the path has as `%2F`. */
const Params = z.strictObject({ id: z.string().max(256) });

/** Messages to channels and whether they arrived (Orchestration 6). */
export const notificationRoutes = ({ notifications }: Pick<Services, 'notifications'>): Route[] => [
  route({
    method: 'GET',
    url: '/notifications',
    role: 'viewer',
    id: 'listNotifications',
    tag: 'runs',
    summary: 'Messages to channels and whether they arrived, newest first',
    query: NotificationsQuery,
    answers: { 200: NotificationList },
    handler: ({ query }) => notifications.list(query),
  }),
  route({
    method: 'POST',
    url: '/notifications/:id/resend',
    role: 'operator',
    id: 'resendNotification',
    tag: 'runs',
    summary: 'Send a message again that did not arrive',
    params: Params,
    answers: { 200: NotificationChanged },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, actor }) => notifications.resend(params.id, actor),
  }),
  route({
    method: 'POST',
    url: '/notifications/:id/dismiss',
    role: 'operator',
    id: 'dismissNotification',
    tag: 'runs',
    summary: 'Leave a message unsent that did not arrive',
    params: Params,
    answers: { 200: NotificationChanged },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, actor }) => notifications.dismiss(params.id, actor),
  }),
];
