import { type Kysely, sql } from 'kysely';
import type { NotificationEvent } from '../../notify/message.ts';
import type { Tried } from '../../notify/tried.ts';
import type { Undelivered } from '../../notify/undelivered.ts';
import { camelCase } from '../../runs/state/key-case.ts';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';

/** `pending`: not tried yet, or tried without success. `failed`: given up. `forwarded`: given up, the fallback channel has it. */
export const NOTIFICATION_STATUSES = ['pending', 'sent', 'failed', 'forwarded', 'dismissed'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** A message to a channel, without its text. Times in milliseconds. */
export interface ListedNotification {
  id: string;
  runId: string | null;
  pipelineName: string;
  event: NotificationEvent;
  channel: string;
  status: NotificationStatus;
  attempts: number;
  error: string | null;
  createdAt: number;
  endedAt: number | null;
  /** Null once it has ended. */
  nextTryAt: number | null;
  /** The last ones; null where none is known. */
  tries: Tried[] | null;
}

export const readTries = (text: string | null): Tried[] | null =>
  text === null ? null : (JSON.parse(text) as Tried[]);

const COLUMNS = [
  'id',
  'run_id',
  'pipeline_name',
  'event',
  'channel',
  'status',
  'attempts',
  'error',
  'created_at',
  'ended_at',
  'due_at',
  'tries',
] as const;

export interface NotificationFilter {
  status?: NotificationStatus;
  run?: string;
}

/** The newest first. */
export async function listNotifications(
  db: Kysely<Tables>,
  { status, run }: NotificationFilter,
  limit: number,
): Promise<ListedNotification[]> {
  let query = db.selectFrom('notifications').select(COLUMNS);
  // A constant lets the partial indexes be used.
  if (status !== undefined) query = query.where('status', '=', sql.lit(status));
  if (run !== undefined) query = query.where('run_id', '=', run);
  const rows = await query.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute();
  return rows.map(({ due_at: dueAt, ...row }) => ({
    ...camelCase(row),
    event: row.event as NotificationEvent,
    status: row.status as NotificationStatus,
    nextTryAt: row.status === 'pending' ? dueAt : null,
    tries: readTries(row.tries),
  }));
}

/** Rows of each status that are looked at. */
const MOST_COUNTED = 10_000;

/**
 * What did not reach its channel so far, among the messages that failed last and those that are due first. Reads much of each, so `db` is
 * a reader.
 */
export async function undelivered(db: Kysely<Tables>, most = MOST_COUNTED): Promise<Undelivered[]> {
  // Constants let the partial indexes be used. What stands behind the text of a row takes long to read.
  const rows = db.selectFrom('notifications').select('channel').limit(most);
  const failing = rows.where('status', '=', sql.lit('failed')).orderBy('created_at', 'desc');
  const due = rows.select('error').where('status', '=', sql.lit('pending')).orderBy('due_at');
  const tried = db.selectFrom(due.as('due')).select('channel').where('error', 'is not', null);
  const count = (of: typeof rows | typeof tried) =>
    db
      .selectFrom(of.as('some'))
      .select(['channel', ({ fn }) => fn.countAll<number | string>().as('count')])
      .groupBy('channel')
      .orderBy('channel')
      .execute();
  const [waiting, failed] = [await count(tried), await count(failing)];
  const as = (state: Undelivered['state']) => (row: { channel: string; count: number | string }) => ({
    channel: row.channel,
    state,
    count: Number(row.count),
  });
  return [...failed.map(as('failed')), ...waiting.map(as('waiting'))];
}

/** Statuses from which a message may be sent again, or be left. */
const UNSENT = ['pending', 'failed', 'forwarded'] as const;

const statusOf = async (tx: Tx, id: string): Promise<NotificationStatus | null> => {
  const row = await tx.db.selectFrom('notifications').select('status').where('id', '=', id).executeTakeFirst();
  return (row?.status as NotificationStatus | undefined) ?? null;
};

/** Makes a message due again as if it was new. Answers the status it had, null for an unknown one; only `UNSENT` change. */
export const resendNotification = (tx: Tx, id: string, at: number) =>
  change(tx, id, { status: 'pending', attempts: 0, due_at: at, tried_from: at, ended_at: null });

/** Leaves a message unsent for good. */
export const dismissNotification = (tx: Tx, id: string, at: number) =>
  change(tx, id, { status: 'dismissed', ended_at: at });

async function change(
  tx: Tx,
  id: string,
  values: Partial<Tables['notifications']>,
): Promise<NotificationStatus | null> {
  const status = await statusOf(tx, id);
  await tx.db.updateTable('notifications').set(values).where('id', '=', id).where('status', 'in', UNSENT).execute();
  return status;
}
