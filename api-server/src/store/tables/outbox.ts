import type { Pipeline } from '@signalbox/crds';
import type { Kysely } from 'kysely';
import type { ConfigSource, Message, Notification } from '../../notify/message.ts';
import type { Outbox } from '../../notify/sender.ts';
import type { Claimed, Settlement } from '../../notify/settle.ts';
import { isTerminal, type RunEvent, type RunStatus } from '../../runs/state/model.ts';
import { addCounters } from '../db/counters.ts';
import type { Database, Tx } from '../db/database.ts';
import { dialectOf } from '../db/dialect.ts';
import { attentionOf } from './attention.ts';
import { readTries, undelivered } from './notification-list.ts';
import { runDefinition } from './definitions.ts';
import { appendEvents } from './event-writes.ts';
import { pruneNotifications } from './retention/prune-notifications.ts';
import type { NotificationRow, Tables } from '../db/schema.ts';
import { columns, statement } from '../db/statement.ts';
import { toWrite } from '../db/write.ts';

type Fresh = Omit<NotificationRow, 'ended_at' | 'error' | 'receipt' | 'tried_from' | 'tries'>;

const insertRow = statement<Fresh>((db, slot) =>
  db
    .insertInto('notifications')
    .values({
      id: slot.id,
      run_id: slot.run_id,
      pipeline_name: slot.pipeline_name,
      stage: slot.stage,
      event: slot.event,
      channel: slot.channel,
      instead_of: slot.instead_of,
      source: slot.source,
      message: slot.message,
      status: slot.status,
      attempts: slot.attempts,
      due_at: slot.due_at,
      created_at: slot.created_at,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Stores notifications in the caller's transaction; an id that is there already stays as it is. */
export async function insertNotifications(tx: Tx, notifications: readonly Notification[]): Promise<void> {
  for (const notification of notifications) await insertDelayed(tx, notification, notification.createdAt);
}

/** Stores one that is sent at `dueAt` (milliseconds), unless it is postponed or dropped before. */
export async function insertDelayed(tx: Tx, notification: Notification, dueAt: number): Promise<void> {
  const { id, runId, pipeline, stage, event, channel, insteadOf, source, message, createdAt } = notification;
  await tx.run(insertRow, {
    id,
    run_id: runId,
    pipeline_name: pipeline,
    stage,
    event,
    channel,
    instead_of: insteadOf,
    source: JSON.stringify(source),
    message: JSON.stringify(message),
    status: 'pending',
    attempts: 0,
    due_at: dueAt,
    created_at: createdAt,
  });
}

/** Postpones what has not been tried yet. */
export async function postponeNotification(tx: Tx, id: string, dueAt: number): Promise<void> {
  const untried = tx.db.updateTable('notifications').where('status', '=', 'pending').where('attempts', '=', 0);
  await untried.set({ due_at: dueAt }).where('id', '=', id).execute();
}

/** Drops what has not been tried yet. */
export async function dropNotification(tx: Tx, id: string): Promise<void> {
  const untried = tx.db.deleteFrom('notifications').where('status', '=', 'pending').where('attempts', '=', 0);
  await untried.where('id', '=', id).execute();
}

const dueRows = statement<{ now: number; limit: number }, NotificationRow>((db, slot) => {
  const due = db
    .selectFrom('notifications')
    .selectAll()
    .where('status', '=', 'pending')
    .where('due_at', '<=', slot.now)
    .orderBy('due_at')
    .limit(slot.limit);
  // What another process is just taking is not waited for.
  return dialectOf(db).name === 'postgres' ? due.forUpdate().skipLocked() : due;
});

const claimRow = statement<{ id: string; due_at: number; until: number }>((db, slot) =>
  db
    .updateTable('notifications')
    .set({ due_at: slot.until })
    .where('id', '=', slot.id)
    .where('due_at', '=', slot.due_at)
    .where('status', '=', 'pending'),
);

/** A look without a transaction: an idle service writes nothing, and an empty commit says nothing about the disk. */
async function anyDue(db: Kysely<Tables>, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('notifications')
    .select('id')
    .where('status', '=', 'pending')
    .where('due_at', '<=', now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes rows that are due for oneself until `until`; a process that dies meanwhile leaves them to the next taker after that. */
export async function claimDue(
  tx: Tx,
  { now, until, limit }: { now: number; until: number; limit: number },
): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  for (const row of await tx.all(dueRows, { now, limit })) {
    if ((await tx.run(claimRow, { id: row.id, due_at: row.due_at, until })) === 1) claimed.push(toClaimed(row));
  }
  return claimed;
}

const toClaimed = (row: NotificationRow): Claimed => ({
  id: row.id,
  runId: row.run_id,
  pipeline: row.pipeline_name,
  stage: row.stage as Notification['stage'],
  event: row.event as Notification['event'],
  channel: row.channel as Notification['channel'],
  insteadOf: row.instead_of as Notification['insteadOf'],
  source: JSON.parse(row.source) as ConfigSource,
  message: JSON.parse(row.message) as Message,
  createdAt: row.created_at,
  attempts: row.attempts,
  tries: readTries(row.tries) ?? [],
  triedFrom: row.tried_from ?? row.created_at,
});

type Settled = Pick<
  NotificationRow,
  'id' | 'status' | 'attempts' | 'tries' | 'due_at' | 'ended_at' | 'error' | 'receipt'
>;

const settleRow = statement<Settled>((db, slot) =>
  db
    .updateTable('notifications')
    .set(columns(slot, ['status', 'attempts', 'tries', 'due_at', 'ended_at', 'error', 'receipt']))
    .where('id', '=', slot.id)
    .where('status', '=', 'pending'),
);

/** What became of a try, with the metric and the line in the run's log that belong to its end (Orchestration 6). */
export async function settleNotification(tx: Tx, settlement: Settlement): Promise<void> {
  const { id, status, attempts, tries, at, nextAt, error, receipt } = settlement;
  const ended = status === 'pending' ? null : at;
  const row = {
    id,
    status,
    attempts,
    tries: JSON.stringify(tries),
    due_at: nextAt ?? at,
    ended_at: ended,
    error,
    receipt: receipt ? JSON.stringify(receipt) : null,
  };
  const changed = await tx.run(settleRow, row);
  if (changed === 0 || ended === null) return;
  if (settlement.forward) await insertNotifications(tx, [settlement.forward]);
  if (settlement.next) await insertReminder(tx, settlement.next);
  addCounters(tx, settlement.counters);
  if (settlement.runId !== null) await appendToEndedRun(tx, settlement.runId, settlement.event);
}

/** Of a run that nobody looks at for weeks. */
const REMINDERS_KEPT = 10;

/** Only while nobody has acknowledged the run, which cannot happen meanwhile. */
async function insertReminder(tx: Tx, reminder: Notification): Promise<void> {
  const { runId } = reminder;
  if (runId === null) return;
  await tx.lock(`attention ${runId}`);
  if ((await attentionOf(tx.db, runId))?.state !== 'open') return;
  await insertNotifications(tx, [reminder]);
  const { repeatMs = 0 } = reminder.message;
  await tx.db
    .deleteFrom('notifications')
    .where('run_id', '=', runId)
    .where('event', '=', reminder.event)
    .where('status', '<>', 'pending')
    .where('created_at', '<', reminder.createdAt - REMINDERS_KEPT * repeatMs)
    .execute();
}

const lastEvents = statement<{ run_id: string }, { events: string; status: string }>((db, slot) =>
  db
    .selectFrom('runs')
    .innerJoin('run_events', 'run_events.run_id', 'runs.id')
    .select(['run_events.events', 'runs.status'])
    .where('runs.id', '=', slot.run_id)
    .orderBy('run_events.first_seq', 'desc')
    .limit(1),
);

/** Adds a line after the last one of a run that has ended; the log of one that goes on is its engine's alone. */
async function appendToEndedRun(tx: Tx, runId: string, event: Omit<RunEvent, 'seq'>): Promise<void> {
  // Other processes add lines too, and each line is after the last one.
  await tx.lock(`log ${runId}`);
  const [last] = await tx.all(lastEvents, { run_id: runId });
  if (!last || !isTerminal(last.status as RunStatus)) return;
  const seq = ((JSON.parse(last.events) as RunEvent[]).at(-1)?.seq ?? 0) + 1;
  await appendEvents(tx, runId, { firstSeq: seq, json: JSON.stringify([{ seq, ...event }]) });
}

/** The outbox of the service over its database. */
export const createOutbox = (database: Pick<Database, 'db' | 'reader' | 'write'>): Outbox => ({
  insert: (notifications) => toWrite((tx) => insertNotifications(tx, notifications)),
  claim: async (claim) => ((await anyDue(database.db, claim.now)) ? database.write((tx) => claimDue(tx, claim)) : []),
  settle: (settlement) => database.write((tx) => settleNotification(tx, settlement)),
  prune: (before, signal) => pruneNotifications(database, before, signal),
  undelivered: (signal) => undelivered(database.reader(signal)),
  definitionOf: async (runId) => (await runDefinition(database.db, runId)) as Pipeline | null,
});
