import { AppError, errorBody } from '@signalbox/crds';
import type { FastifyReply } from 'fastify';
import type { Delivery, Receipt, Verdict } from '../../triggers/model.ts';
import { DefinitionName } from '../fields.ts';
import { Anything, route, type Route } from '../route.ts';
import { previewView, verdictView } from '../views.ts';
import { z } from 'zod';

export interface WebhookDeps {
  receive(delivery: Delivery): Promise<Receipt>;
  /** Counts a delivery by its source as asked for and what became of it. */
  countDelivery(source: string | null, outcome: string): void;
}

/** The two ways in (Orchestration 4.1, Design 4). Deliveries may carry any other key, in the body and in the query. */
export const webhookRoutes = ({ receive, countDelivery }: WebhookDeps): Route[] => [
  route({
    method: 'POST',
    url: '/webhook',
    role: 'webhook',
    summary: 'Take a delivery of a source and start what it asks for',
    query: Anything,
    body: Anything,
    handler: async ({ query, body, caller, request, reply }) => {
      const asked = query as Record<string, unknown>;
      const source = textOf(asked.source) ?? textOf(request.headers['x-pipeline-source']);
      const receipt = await receive({
        source,
        body,
        strategy: textOf(asked.strategy),
        allowTesting: asked.allow_testing === 'true',
        dryRun: asked.dry_run === 'true',
        team: caller.team,
      });
      countDelivery(source, outcomeOf(receipt));
      return sendReceipt(reply, receipt);
    },
  }),
  route({
    method: 'POST',
    url: '/pipelines/:name/run',
    role: 'operator',
    summary: 'Start a pipeline by hand; the body is a generic delivery',
    params: z.strictObject({ name: DefinitionName }),
    body: Anything,
    handler: async ({ params, body, reply }) =>
      sendReceipt(
        reply,
        await receive({
          source: 'generic',
          body: body ?? {},
          strategy: null,
          allowTesting: true,
          dryRun: false,
          team: null,
          forcedPipeline: params.name,
        }),
      ),
  }),
];

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
      const { status: _, ...load } = verdictView(verdict);
      const body = { ...errorBody('at_capacity', 'every slot is taken; try again later'), ...load, ...extra };
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
