import { type Kysely, sql } from 'kysely';
import { camelCase } from '../../runs/state/key-case.ts';
import type { AlertFate, ClosestPipeline, DeliveryRecord } from '../../triggers/delivery-record.ts';
import type { Database, Tx } from '../db/database.ts';
import { dialectOf } from '../db/dialect.ts';
import type { DeliveryRow } from '../db/rows/delivery-row.ts';
import type { Tables } from '../db/schema.ts';
import { columns, statement } from '../db/statement.ts';
import { inBatches } from './retention/in-batches.ts';

type Fresh = Omit<DeliveryRow, 'id'>;

const COLUMNS = [
  'received_at',
  'source',
  'outcome',
  'status_code',
  'pipeline',
  'run_id',
  'summary',
  'severity',
  'labels',
  'fingerprint',
  'detail',
  'token_name',
  'team',
  'strategy',
  'allow_testing',
  'alerts',
  'closest',
  'raw',
  'raw_truncated',
] as const satisfies readonly (keyof Fresh)[];

const insertRow = statement<Fresh>((db, slot) => db.insertInto('deliveries').values(columns(slot, COLUMNS)));

const toRow = (record: DeliveryRecord): Fresh => ({
  received_at: record.receivedAt,
  source: record.source,
  outcome: record.outcome,
  status_code: record.statusCode,
  pipeline: record.pipeline,
  run_id: record.runId,
  summary: record.summary,
  severity: record.severity,
  labels: JSON.stringify(record.labels),
  fingerprint: record.fingerprint,
  detail: record.detail,
  token_name: record.tokenName,
  team: record.team,
  strategy: record.strategy,
  allow_testing: record.allowTesting ? 1 : 0,
  alerts: record.alerts && JSON.stringify(record.alerts),
  closest: record.closest.length === 0 ? null : JSON.stringify(record.closest),
  raw: record.raw,
  raw_truncated: record.rawTruncated ? 1 : 0,
});

/** Keeps a delivery with what became of it. */
export async function insertDelivery(tx: Tx, record: DeliveryRecord): Promise<void> {
  await tx.run(insertRow, toRow(record));
}

export interface KeptDelivery extends DeliveryRecord {
  id: number;
}

/** Times in milliseconds, `since` included, `until` not; `before` is the id to go on from. */
export interface DeliveryFilter {
  outcome?: readonly string[];
  source?: string;
  pipeline?: string;
  /** Words in the summary, the labels, the fingerprint, the pipeline or the detail. */
  q?: string;
  since?: number;
  until?: number;
  before?: number;
}

const LISTED = COLUMNS.filter((column) => column !== 'raw' && column !== 'alerts' && column !== 'closest');

const STARTED = ['accepted', 'queued'];
/** Lets the partial index of the other outcomes be used. */
const STARTED_LITERAL = STARTED.map((outcome) => sql.lit(outcome));

/** Deliveries that one page looks through, the newest first, for what no index finds. */
export const MOST_LOOKED_THROUGH = 40_000;
/** Longer than one that came earlier may be stored later, by another replica. */
const OUT_OF_ORDER_MS = 3_600_000;

export interface DeliveryRows {
  /** The newest first. */
  rows: KeptDelivery[];
  /** What `before` goes on from; null where nothing older can match. */
  next: number | null;
  /** When the oldest that was looked at came, where older ones were not looked at. */
  lookedBackTo: number | null;
}

/** Reads up to `MOST_LOOKED_THROUGH`, so `db` is a reader. */
export async function listDeliveries(db: Kysely<Tables>, filter: DeliveryFilter, limit: number): Promise<DeliveryRows> {
  const { first, last, older } = await lookedThrough(db, filter);
  const query = matching(db, filter).where('id', '>=', first).where('id', '<=', last).orderBy('id', 'desc');
  const found = await query.limit(limit + 1).execute();
  const rows = found.slice(0, limit).map((row) => toKept({ ...row, raw: null, alerts: null, closest: null }));
  if (found.length > limit) return { rows, next: rows.at(-1)?.id ?? null, lookedBackTo: null };
  if (!older) return { rows, next: null, lookedBackTo: null };
  return { rows, next: first, lookedBackTo: (await firstOf(db, { from: first }))?.receivedAt ?? null };
}

/** Ids between which a page looks, and whether older ones may match, too. */
async function lookedThrough(db: Kysely<Tables>, filter: DeliveryFilter) {
  const { since, until, before = Infinity } = filter;
  const oldest = await firstOf(db, since === undefined ? {} : { since: since - OUT_OF_ORDER_MS });
  const newest = await lastOf(db, until === undefined ? {} : { until: until + OUT_OF_ORDER_MS });
  if (!oldest || !newest) return { first: 1, last: 0, older: false };
  const last = Math.min(newest.id, before - 1);
  const first = isIndexed(filter) ? oldest.id : Math.max(oldest.id, last - MOST_LOOKED_THROUGH + 1);
  return { first, last, older: first > oldest.id };
}

const edges = (db: Kysely<Tables>) => db.selectFrom('deliveries').select(['id', 'received_at as receivedAt']).limit(1);

function firstOf(db: Kysely<Tables>, { since, from = 0 }: { since?: number; from?: number }) {
  const edge =
    since === undefined
      ? edges(db).where('id', '>=', from).orderBy('id')
      : edges(db).where('received_at', '>=', since).orderBy('received_at');
  return edge.executeTakeFirst();
}

function lastOf(db: Kysely<Tables>, { until }: { until?: number }) {
  const edge =
    until === undefined
      ? edges(db).orderBy('id', 'desc')
      : edges(db).where('received_at', '<', until).orderBy('received_at', 'desc');
  return edge.executeTakeFirst();
}

const isRefused = ({ outcome }: DeliveryFilter): boolean => outcome?.every((one) => !STARTED.includes(one)) ?? false;

const isIndexed = (filter: DeliveryFilter): boolean =>
  isRefused(filter) && [filter.source, filter.pipeline, filter.q].every((one) => one === undefined);

function matching(db: Kysely<Tables>, filter: DeliveryFilter) {
  const { contains } = dialectOf(db);
  let query = db.selectFrom('deliveries').select(['id', ...LISTED]);
  for (const column of ['source', 'pipeline'] as const) {
    const value = filter[column];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  const { outcome, q, since, until } = filter;
  if (outcome !== undefined) query = query.where('outcome', 'in', outcome);
  if (isRefused(filter)) query = query.where('outcome', 'not in', STARTED_LITERAL);
  if (since !== undefined) query = query.where('received_at', '>=', since);
  if (until !== undefined) query = query.where('received_at', '<', until);
  if (q === undefined) return query;
  const found = (['summary', 'labels', 'fingerprint', 'pipeline', 'detail'] as const).map((column) =>
    contains(`deliveries.${column}`, q),
  );
  return query.where(sql<boolean>`(${sql.join(found, sql` or `)})`);
}

/** Rows of each outcome that are counted. */
export const MOST_COUNTED = 1_000;

/** Deliveries with this outcome since then, counted among the newest `MOST_COUNTED`. */
export async function countDeliveries(db: Kysely<Tables>, outcome: string, since: number): Promise<number> {
  const newest = db
    .selectFrom('deliveries')
    .select('received_at')
    .where('outcome', '=', outcome)
    .where('outcome', 'not in', STARTED_LITERAL)
    .orderBy('id', 'desc')
    .limit(MOST_COUNTED)
    .as('newest');
  const { n } = await db
    .selectFrom(newest)
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .where('received_at', '>=', since)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Null for an unknown one. */
export async function findDelivery(db: Kysely<Tables>, id: number): Promise<KeptDelivery | null> {
  const row = await db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toKept(row) : null;
}

const toKept = (row: Omit<DeliveryRow, 'id'> & { id: number }): KeptDelivery => ({
  ...camelCase(row),
  outcome: row.outcome as DeliveryRecord['outcome'],
  labels: JSON.parse(row.labels) as Record<string, string>,
  alerts: row.alerts === null ? null : (JSON.parse(row.alerts) as AlertFate[]),
  closest: row.closest === null ? [] : (JSON.parse(row.closest) as ClosestPipeline[]),
  allowTesting: row.allow_testing === 1,
  rawTruncated: row.raw_truncated === 1,
});

const DAY_MS = 86_400_000;

/** Removes deliveries that came more than `days` ago, in small transactions. */
export const pruneDeliveries = (database: Database, days: number, now: number): Promise<number> =>
  inBatches(database, async (tx, most) => {
    const old = tx.db
      .selectFrom('deliveries')
      .select('id')
      .where('received_at', '<', now - days * DAY_MS)
      .limit(most);
    const { numDeletedRows } = await tx.db.deleteFrom('deliveries').where('id', 'in', old).executeTakeFirst();
    const removed = Number(numDeletedRows);
    return { removed, seen: removed, more: removed === most };
  });
