import { AppError, errorBody } from '@signalbox/crds';
import type { Delivery, Receipt, Verdict } from '../../triggers/model.ts';
import type { Actor } from '../actor.ts';
import { recordIn } from '../audit/record.ts';
import type { Alongside } from './admit.ts';
import { headOf } from './head.ts';
import {
  type CapacityRefusal,
  type DeliveryAnswer,
  type DeliveryRefusal,
  type DryRun,
  outcomeView,
  previewView,
  takenView,
} from '../views/delivery.ts';

/** A delivery as received; `strategy` and `allowTesting` come from its query. */
export type Incoming = Pick<Delivery, 'source' | 'body' | 'strategy' | 'allowTesting'>;

/** The answer; `refused` has the error type, which decides the HTTP status. */
export type DeliveryResult =
  | { kind: 'taken'; body: DeliveryAnswer }
  | { kind: 'previewed'; body: DryRun }
  | {
      kind: 'refused';
      type: 'no_pipeline' | 'unavailable' | 'at_capacity';
      body: DeliveryRefusal | CapacityRefusal;
      retryAfterSeconds: number | null;
    };

export interface DeliveriesDeps {
  /** `alongside` is a further write of the transaction that stores the runs. */
  receive(delivery: Delivery, alongside?: Alongside): Promise<Receipt>;
  /** Counts a delivery by requested source and result. */
  countDelivery(source: string | null, outcome: string): void;
  keepInvalid(delivery: Delivery, refusal: Refusal): void;
  now(): number;
}

interface Refusal {
  statusCode: number;
  message: string;
}

/** What a run is started with by hand: a body of that source. */
export type Given = Pick<Delivery, 'source' | 'body'>;

/** The webhook, the start by hand and the dry run (Orchestration 4.1). All throw `validation` for a body that the source cannot read. */
export interface Deliveries {
  take(
    delivery: Incoming,
    options: Pick<Delivery, 'team' | 'dryRun' | 'tokenName'>,
    alongside?: Alongside,
  ): Promise<DeliveryResult>;
  /** Keeps a delivery whose body is not JSON or too large. */
  unreadable(delivery: Incoming & Pick<Delivery, 'team' | 'tokenName'>, refusal: Refusal): void;
  /** The dry run: what a delivery would start, and its first prompt. */
  preview(delivery: Incoming): Promise<DeliveryResult>;
  /** Starts a pipeline by hand. Throws `not_found`. */
  runNow(pipeline: string, given: Given, actor: Actor): Promise<DeliveryResult>;
  /** What `runNow` would start, with the first prompt. Throws `not_found`. */
  previewRun(pipeline: string, given: Given): Promise<DeliveryResult>;
}

export const createDeliveries = ({ receive, countDelivery, keepInvalid, now }: DeliveriesDeps): Deliveries => ({
  take: async (delivery, options, alongside) => {
    const receipt = await receive({ ...delivery, ...options }, alongside);
    countDelivery(delivery.source, outcomeOf(receipt));
    return resultOf(receipt);
  },
  unreadable: (delivery, refusal) => {
    countDelivery(delivery.source, 'invalid');
    keepInvalid({ ...delivery, dryRun: false }, refusal);
  },
  preview: async (delivery) => resultOf(await receive({ ...delivery, dryRun: true, withPrompt: true, team: null })),
  previewRun: async (pipeline, given) =>
    resultOf(await receive({ ...byHand(pipeline, given), dryRun: true, withPrompt: true })),
  runNow: async (pipeline, given, actor) => {
    const started = { ...byHand(pipeline, given), startedBy: actor.name };
    const audited: Alongside = (tx, { runId, status }) =>
      recordIn(tx, actor, now(), { action: 'run', targetType: 'pipeline', target: pipeline, runId, outcome: status });
    return resultOf(await receive(started, audited));
  },
});

const byHand = (pipeline: string, { source, body }: Given): Delivery => ({
  source,
  body: body ?? {},
  strategy: null,
  allowTesting: true,
  dryRun: false,
  team: null,
  forcedPipeline: pipeline,
});

function resultOf(receipt: Receipt): DeliveryResult {
  switch (receipt.kind) {
    case 'verdict':
      return answerOf(receipt.verdict);
    case 'verdicts':
      return answerOf(headOf(receipt.verdicts), { runs: receipt.verdicts.map(outcomeView) });
    case 'previews': {
      const { previews, leftOut } = receipt;
      const runs = previews.map(previewView);
      const [first] = runs;
      if (first && runs.length + leftOut === 1) return { kind: 'previewed', body: first };
      return { kind: 'previewed', body: { status: 'dry_run', runs, ...(leftOut > 0 && { left_out: leftOut }) } };
    }
    case 'invalid':
      throw new AppError('validation', receipt.message, { extra: { errors: receipt.errors ?? [] } });
    case 'unknown_pipeline':
      throw new AppError('not_found', receipt.message);
    default:
      return receipt satisfies never;
  }
}

type Runs = Pick<DeliveryAnswer, 'runs'>;

function answerOf(verdict: Verdict, runs: Runs = {}): DeliveryResult {
  switch (verdict.status) {
    case 'no_pipeline':
    case 'unavailable': {
      const body = { ...errorBody(verdict.status, verdict.message), ...runs };
      return { kind: 'refused', type: verdict.status, body, retryAfterSeconds: null };
    }
    case 'at_capacity': {
      const { message, activeRuns, maxConcurrentRuns, retryAfterSeconds } = verdict;
      const load = { active_runs: activeRuns, max_concurrent_runs: maxConcurrentRuns };
      const body = { ...errorBody('at_capacity', message), ...load, ...runs };
      return { kind: 'refused', type: 'at_capacity', body, retryAfterSeconds };
    }
    default:
      return { kind: 'taken', body: { ...takenView(verdict), ...runs } };
  }
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
