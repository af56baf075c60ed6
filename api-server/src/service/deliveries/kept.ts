import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import type { Database } from '../../store/db/database.ts';
import {
  countDeliveries,
  findDelivery,
  type KeptDelivery,
  listDeliveries,
  MOST_COUNTED,
} from '../../store/tables/deliveries.ts';
import { deliveryOfRun } from '../../store/tables/bodies/run-bodies.ts';
import { DELIVERY_OUTCOMES } from '../../triggers/delivery-record.ts';
import type { Actor } from '../actor.ts';
import { type Action, type RecordAction, recordIn } from '../audit/record.ts';
import { count, DefinitionName, Instant, line } from '../fields.ts';
import { type DeliveryDetail, deliveryDetail, deliveryLine, type DeliveryPage } from '../views/kept-delivery.ts';
import { MAX_RAW, onlyFate } from './account.ts';
import type { Deliveries, DeliveryResult } from './deliveries.ts';

export const KeptQuery = z.strictObject({
  outcome: z.enum(DELIVERY_OUTCOMES).optional(),
  source: line(64).optional(),
  pipeline: DefinitionName.optional(),
  q: line().optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  limit: count(1, 200).default(50),
  cursor: z
    .string()
    .regex(/^d\d{1,15}$/, 'is not a valid cursor')
    .transform((text) => Number(text.slice(1)))
    .optional(),
});
export type KeptQuery = z.output<typeof KeptQuery>;

/** An id in a path: a malformed one gets the same answer as an unknown one. */
export const KeptId = z.string().transform((text) => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw unknownDelivery();
  return Number(text);
});
const unknownDelivery = () => new AppError('not_found', 'there is no delivery with this id');

const REFUSED = ['no_pipeline', 'at_capacity', 'invalid'] as const;

/** Deliveries to the webhook with what became of them, for `retention.deliveries_days`. */
export interface KeptDeliveries {
  list(query: KeptQuery, signal: AbortSignal): Promise<DeliveryPage>;
  /** How many were refused since then, by outcome; those with none are left out. */
  refused(since: number): Promise<{ outcome: (typeof REFUSED)[number]; count: number; isMore: boolean }[]>;
  /** Throws `not_found`. */
  get(id: number): Promise<DeliveryDetail>;
  /** Handles the body once more as of now. Throws `not_found`, and `conflict` where the whole body is not there. */
  redeliver(id: number, actor: Actor): Promise<DeliveryResult>;
}

export interface KeptDeliveriesDeps {
  database: Pick<Database, 'db' | 'reader'>;
  /** Stores what waits, so that an answer has it. */
  flushDeliveries(): Promise<void>;
  take: Deliveries['take'];
  /** For what starts no run. */
  record: RecordAction;
  now(): number;
}

export function createKeptDeliveries({
  database,
  flushDeliveries,
  take,
  record,
  now,
}: KeptDeliveriesDeps): KeptDeliveries {
  const find = async (id: number): Promise<KeptDelivery> => {
    await flushDeliveries();
    const found = await findDelivery(database.db, id);
    if (!found) throw unknownDelivery();
    return found;
  };
  const bodyOf = ({ raw, runId }: KeptDelivery) => (raw === null ? rawOfRun(database, runId) : Promise.resolve(raw));
  return {
    refused: async (since) => {
      const counted = REFUSED.map(async (outcome) => {
        const found = await countDeliveries(database.db, outcome, since);
        return { outcome, count: found, isMore: found === MOST_COUNTED };
      });
      return (await Promise.all(counted)).filter(({ count: found }) => found > 0);
    },
    list: async ({ limit, cursor, outcome, ...filter }, signal) => {
      await flushDeliveries();
      const asked = { ...filter, ...(outcome && { outcome: [outcome] }), before: cursor };
      const { rows, next, lookedBackTo } = await listDeliveries(database.reader(signal), asked, limit);
      return {
        deliveries: rows.map(deliveryLine),
        next_cursor: next === null ? null : `d${next}`,
        looked_back_to: lookedBackTo === null ? null : new Date(lookedBackTo).toISOString(),
      };
    },
    get: async (id) => {
      const found = await find(id);
      const body = await bodyOf(found);
      const isCut = found.rawTruncated || (body?.length ?? 0) > MAX_RAW;
      const raw = body === null ? null : isCut ? body.slice(0, MAX_RAW).toWellFormed() : (JSON.parse(body) as unknown);
      return deliveryDetail(found, { alerts: found.alerts ?? onlyFate(found), raw, isCut });
    },
    redeliver: async (id, actor) => {
      const found = await find(id);
      const body = await bodyOf(found);
      if (found.rawTruncated)
        throw new AppError('conflict', 'the body of this delivery was cut; have its sender send it again');
      if (body === null) throw new AppError('conflict', 'the run with the body of this delivery was removed');
      const { source, strategy, allowTesting, team } = found;
      const again = { source: source || null, body: JSON.parse(body) as unknown, strategy, allowTesting };
      const about = { action: 'redeliver', targetType: 'delivery', target: String(id) } as const;
      let isRecorded = false;
      const result = await take(
        again,
        { team, dryRun: false, tokenName: actor.name },
        async (tx, { runId, status }) => {
          await recordIn(tx, actor, now(), { ...about, runId, outcome: status });
          isRecorded = true;
        },
      );
      if (!isRecorded) await record(actor, { ...about, ...outcomeOf(result) });
      return { ...result, body: { ...result.body, original_delivery_id: id } } as DeliveryResult;
    },
  };
}

function outcomeOf(result: DeliveryResult): Pick<Action, 'outcome' | 'runId'> {
  if (result.kind !== 'taken') return { outcome: 'refused' };
  const { body } = result;
  return { outcome: body.status, ...('run_id' in body && { runId: body.run_id }) };
}

async function rawOfRun({ db }: Pick<Database, 'db'>, runId: string | null): Promise<string | null> {
  const raw = runId === null ? null : await deliveryOfRun(db, runId);
  return raw === null ? null : JSON.stringify(raw);
}
