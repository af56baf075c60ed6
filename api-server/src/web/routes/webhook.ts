import { ERROR_STATUS } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeliveryResult, Incoming } from '../../service/deliveries/deliveries.ts';
import { payloads } from '../../service/deliveries/payloads.ts';
import { DefinitionName, line } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { CapacityRefusal, DeliveryAnswer, DeliveryRefusal, DryRun } from '../../service/views/delivery.ts';
import { Anything, route, type Route } from '../route.ts';

/** The query of a delivery; other keys are ignored. */
const DeliveryQuery = z.looseObject({
  source: z.unknown().optional(),
  strategy: z.unknown().optional(),
  allow_testing: z.unknown().optional(),
  dry_run: z.unknown().optional(),
});
const Described = z.strictObject({
  source: z.string().optional(),
  strategy: z.string().optional(),
  allow_testing: z.enum(['true', 'false']).optional(),
});

/** `source`: whose payload the body is, else a generic delivery. */
const ManualQuery = z.strictObject({ source: line(64).optional(), dry_run: z.enum(['true', 'false']).optional() });

const STARTED = { 202: DeliveryAnswer, 422: DeliveryRefusal, 429: CapacityRefusal, 503: DeliveryRefusal };

/** The webhook, the dry run and the start by hand (Orchestration 4.1). Deliveries may contain any other key, in body and query. */
export const webhookRoutes = ({ deliveries }: Pick<Services, 'deliveries'>): Route[] => [
  route({
    method: 'POST',
    url: '/webhook',
    role: 'webhook',
    id: 'deliver',
    tag: 'triggers',
    summary: 'Accept a delivery of a source and start its run',
    query: DeliveryQuery,
    body: Anything,
    described: { query: Described.extend({ dry_run: z.enum(['true', 'false']).optional() }), body: payloads.any },
    answers: { ...STARTED, 200: DryRun },
    refusals: ['too_large'],
    unreadable: (request, { status, body }) => {
      const delivery = deliveryOf(request.query as Record<string, unknown>, undefined, request);
      const { team, name: tokenName } = request.caller;
      deliveries.unreadable({ ...delivery, team, tokenName }, { statusCode: status, message: body.detail.message });
    },
    handler: async ({ query, body, caller, request, reply }) => {
      const options = { team: caller.team, dryRun: query.dry_run === 'true', tokenName: caller.name };
      return send(reply, await deliveries.take(deliveryOf(query, body, request), options));
    },
  }),
  route({
    method: 'POST',
    url: '/triggers/preview',
    role: 'operator',
    id: 'previewTrigger',
    tag: 'triggers',
    summary: 'Dry run: what a delivery would start, with the first prompt; the body is that of the webhook',
    query: DeliveryQuery.omit({ dry_run: true }),
    body: Anything,
    described: { query: Described, body: payloads.any },
    answers: { 200: DryRun, 503: DeliveryRefusal },
    refusals: ['too_large'],
    handler: async ({ query, body, request, reply }) =>
      send(reply, await deliveries.preview(deliveryOf(query, body, request))),
  }),
  route({
    method: 'POST',
    url: '/pipelines/:name/run',
    role: 'operator',
    id: 'runPipeline',
    tag: 'triggers',
    summary: 'Start a pipeline by hand, or with dry_run=true say what would start; the body is a generic delivery',
    params: z.strictObject({ name: DefinitionName }),
    query: ManualQuery,
    body: Anything,
    described: { body: payloads.manual },
    answers: { ...STARTED, 200: DryRun },
    refusals: ['not_found', 'too_large'],
    handler: async ({ params, query, body, actor, reply }) => {
      const given = { source: query.source ?? 'generic', body };
      const { name } = params;
      if (query.dry_run === 'true') return send(reply, await deliveries.previewRun(name, given));
      return send(reply, await deliveries.runNow(name, given, actor));
    },
  }),
];

const deliveryOf = (
  { source, strategy, allow_testing: allowTesting }: Record<string, unknown>,
  body: unknown,
  { headers }: FastifyRequest,
): Incoming => ({
  source: textOf(source) ?? textOf(headers['x-pipeline-source']),
  body,
  strategy: textOf(strategy),
  allowTesting: allowTesting === 'true',
});

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

export function send(reply: FastifyReply, result: DeliveryResult): FastifyReply {
  if (result.kind === 'taken') return reply.code(202).send(result.body);
  if (result.kind === 'previewed') return reply.code(200).send(result.body);
  if (result.retryAfterSeconds !== null) reply.header('retry-after', String(result.retryAfterSeconds));
  return reply.code(ERROR_STATUS[result.type]).send(result.body);
}
