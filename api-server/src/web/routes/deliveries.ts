import { z } from 'zod';
import { KeptId, KeptQuery } from '../../service/deliveries/kept.ts';
import type { Services } from '../../service/services.ts';
import { CapacityRefusal, DeliveryAnswer, DeliveryRefusal } from '../../service/views/delivery.ts';
import { DeliveryDetail, DeliveryPage } from '../../service/views/kept-delivery.ts';
import { route, type Route } from '../route.ts';
import { send } from './webhook.ts';

const Params = z.strictObject({ id: KeptId });
const described = { params: z.strictObject({ id: z.int().min(1) }) };

/** What was delivered to the webhook, and what became of it. */
export const deliveryRoutes = ({ keptDeliveries }: Pick<Services, 'keptDeliveries'>): Route[] => [
  route({
    method: 'GET',
    url: '/deliveries',
    role: 'viewer',
    id: 'listDeliveries',
    tag: 'triggers',
    summary: 'Deliveries to the webhook with what became of them, newest first',
    query: KeptQuery,
    answers: { 200: DeliveryPage },
    handler: ({ query, request }) => keptDeliveries.list(query, request.signal),
  }),
  route({
    method: 'GET',
    url: '/deliveries/:id',
    role: 'viewer',
    id: 'getDelivery',
    tag: 'triggers',
    summary: 'One delivery with its body and what became of each of its alerts',
    params: Params,
    described,
    answers: { 200: DeliveryDetail },
    refusals: ['not_found'],
    handler: ({ params }) => keptDeliveries.get(params.id),
  }),
  route({
    method: 'POST',
    url: '/deliveries/:id/redeliver',
    role: 'operator',
    id: 'redeliver',
    tag: 'triggers',
    summary: 'Handle the stored body of a delivery again',
    params: Params,
    described,
    answers: { 202: DeliveryAnswer, 422: DeliveryRefusal, 429: CapacityRefusal, 503: DeliveryRefusal },
    refusals: ['not_found', 'conflict'],
    handler: async ({ params, actor, reply }) => send(reply, await keptDeliveries.redeliver(params.id, actor)),
  }),
];
