import { AppError, errorBody } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Delivery, Receipt, Verdict } from '../../triggers/model.ts';
import { GenericPayload } from '../../triggers/sources/generic.ts';
import { sources } from '../../triggers/sources/index.ts';
import { auditBy, type AuditDeps } from '../auth/audit-by.ts';
import { DefinitionName } from '../fields.ts';
import { Anything, route, type Route } from '../route.ts';
import { previewView, verdictView } from '../../service/views/views.ts';
import { z } from 'zod';

export interface WebhookDeps extends AuditDeps {
  receive(delivery: Delivery): Promise<Receipt>;
  /** Counts a delivery by its source as asked for and what became of it. */
  countDelivery(source: string | null, outcome: string): void;
}

/** What is read of a delivery's query; whatever else stands there passes by. */
const DeliveryQuery = z.looseObject({
  source: z.unknown().optional(),
  strategy: z.unknown().optional(),
  allow_testing: z.unknown().optional(),
  dry_run: z.unknown().optional(),
});

const AnyPayload = z.union([...sources].map(([title, { payload }]) => payload.meta({ title })));

/** The ways in, and a look at what would come in (Orchestration 4.1, Design 4). Deliveries may carry any other key, in the body and in the query. */
export const webhookRoutes = ({ receive, countDelivery, ...auditing }: WebhookDeps): Route[] => [
  route({
    method: 'POST',
    url: '/webhook',
    role: 'webhook',
    summary: 'Take a delivery of a source and start what it asks for',
    query: DeliveryQuery,
    body: Anything,
    describedBody: AnyPayload,
    handler: async ({ query, body, caller, request, reply }) => {
      const delivery = deliveryOf(query, body, request);
      const receipt = await receive({ ...delivery, dryRun: query.dry_run === 'true', team: caller.team });
      countDelivery(delivery.source, outcomeOf(receipt));
      return sendReceipt(reply, receipt);
    },
  }),
  route({
    method: 'POST',
    url: '/triggers/preview',
    role: 'operator',
    summary: 'Say what a delivery would start and what it would ask first; the body is that of the webhook',
    query: DeliveryQuery.omit({ dry_run: true }),
    body: Anything,
    describedBody: AnyPayload,
    handler: async ({ query, body, request, reply }) => {
      const delivery = deliveryOf(query, body, request);
      return sendReceipt(reply, await receive({ ...delivery, dryRun: true, withPrompt: true, team: null }));
    },
  }),
  route({
    method: 'POST',
    url: '/pipelines/:name/run',
    role: 'operator',
    summary: 'Start a pipeline by hand; the body is a generic delivery',
    params: z.strictObject({ name: DefinitionName }),
    body: Anything,
    describedBody: GenericPayload.omit({ pipeline: true }).nullish(),
    handler: async ({ params: { name }, body, caller, request, reply }) => {
      const receipt = await receive({
        source: 'generic',
        body: body ?? {},
        strategy: null,
        allowTesting: true,
        dryRun: false,
        team: null,
        forcedPipeline: name,
      });
      const started = startedRun(receipt);
      const deed = { action: 'run', targetType: 'pipeline', target: name };
      if (started) await auditBy(auditing, { caller, request })({ ...deed, ...started });
      return sendReceipt(reply, receipt);
    },
  }),
];

/** The new run of a delivery of one context; null where it started none. */
function startedRun(receipt: Receipt): { runId: string; outcome: string } | null {
  if (receipt.kind !== 'verdict') return null;
  const { verdict } = receipt;
  const isNew = verdict.status === 'accepted' || verdict.status === 'queued';
  return isNew ? { runId: verdict.runId, outcome: verdict.status } : null;
}

const deliveryOf = (
  { source, strategy, allow_testing: allowTesting }: Record<string, unknown>,
  body: unknown,
  { headers }: FastifyRequest,
): Omit<Delivery, 'dryRun' | 'team'> => ({
  source: textOf(source) ?? textOf(headers['x-pipeline-source']),
  body,
  strategy: textOf(strategy),
  allowTesting: allowTesting === 'true',
});

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function sendReceipt(reply: FastifyReply, receipt: Receipt): unknown {
  switch (receipt.kind) {
    case 'verdict':
      return sendVerdict(reply, receipt.verdict);
    case 'verdicts':
      return sendVerdict(reply, headOf(receipt.verdicts), { runs: receipt.verdicts.map(verdictView) });
    case 'previews': {
      const [first, ...others] = receipt.previews.map(previewView);
      return reply
        .code(200)
        .send(others.length === 0 && first ? first : { status: 'dry_run', runs: receipt.previews.map(previewView) });
    }
    case 'invalid':
      throw new AppError('validation', receipt.message, { extra: { errors: receipt.errors ?? [] } });
    case 'unknown_pipeline':
      throw new AppError('not_found', receipt.message);
    default:
      return receipt satisfies never;
  }
}

function sendVerdict(reply: FastifyReply, verdict: Verdict, extra: object = {}): unknown {
  switch (verdict.status) {
    case 'no_pipeline':
    case 'unavailable':
      return reply
        .code(verdict.status === 'no_pipeline' ? 422 : 503)
        .send({ ...errorBody(verdict.status, verdict.message), ...extra });
    case 'at_capacity': {
      const { status: _, message, ...load } = verdictView(verdict);
      const body = { ...errorBody('at_capacity', String(message)), ...load, ...extra };
      return reply.code(429).header('retry-after', String(verdict.retryAfterSeconds)).send(body);
    }
    default:
      return reply.code(202).send({ ...verdictView(verdict), ...extra });
  }
}

/** What several verdicts are together: the best news first, so that one new run makes it `accepted`. */
const PRECEDENCE: readonly Verdict['status'][] = [
  'accepted',
  'queued',
  'deduplicated',
  'suspended',
  'skipped_testing',
  'at_capacity',
  'unavailable',
  'no_pipeline',
];

function headOf(verdicts: readonly Verdict[]): Verdict {
  for (const status of PRECEDENCE) {
    const found = verdicts.find((verdict) => verdict.status === status);
    if (found) return found;
  }
  return { status: 'no_pipeline', message: 'the delivery holds no alert' };
}

function outcomeOf(receipt: Receipt): string {
  switch (receipt.kind) {
    case 'verdict':
      return receipt.verdict.status;
    case 'verdicts':
      return headOf(receipt.verdicts).status;
    case 'previews':
      return 'dry_run';
    default:
      return receipt.kind;
  }
}
