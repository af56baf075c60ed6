import { createHash } from 'node:crypto';
import { AppError } from '@signalbox/crds';
import { ACTIVE_RUN_STATUSES, TERMINAL_RUN_STATUSES, type RunStatus } from '../../runs/state/model.ts';
import { statusesBefore } from '../../runs/state/status.ts';
import { END_COLUMNS, START_COLUMNS } from './run-row.ts';
import type { Tx } from '../db/database.ts';
import { keepPrompts } from './prompt-templates.ts';
import { columns, statement } from '../db/statement.ts';
import type { DuplicateKey, DuplicateRun, NewRunRecord, RunEndRecord } from '../../runs/state/records.ts';

const findDuplicateRow = statement<
  { pipeline: string; key: string; since: number },
  { id: string; status: string; triggered_at: number }
>((db, slot) =>
  db
    .selectFrom('runs')
    .select(['id', 'status', 'triggered_at'])
    .where('dedup_key', '=', slot.key)
    .where('pipeline_name', '=', slot.pipeline)
    .where((row) => row.or([row('triggered_at', '>=', slot.since), row('status', 'in', ACTIVE_RUN_STATUSES)])),
);

/** The longest key that an index takes as it is. */
const MAX_KEY = 256;

/** A key comes from the sender of an alert; an index entry has a maximum size. */
const indexed = (key: string): string =>
  key.length <= MAX_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/**
 * The run that suppresses a new one: a live one first, else the newest within the window (Orchestration 4.1).
 * No other transaction decides about this key until this one ends.
 */
export async function findDuplicate(
  tx: Tx,
  { pipelineName, dedupKey, since }: DuplicateKey,
): Promise<DuplicateRun | null> {
  const key = indexed(dedupKey);
  await tx.lock(`dedup ${pipelineName} ${key}`);
  // Sorting is ours: there are none or a few rows, and a sorter in the database costs more than finding them.
  const rows = await tx.all(findDuplicateRow, { pipeline: pipelineName, key, since });
  const row =
    rows.find(({ status }) => (ACTIVE_RUN_STATUSES as readonly string[]).includes(status)) ??
    rows.toSorted((a, b) => b.triggered_at - a.triggered_at)[0];
  return row ? { id: row.id, status: row.status, triggeredAt: row.triggered_at } : null;
}

const rowOf = (slot: NewRunRecord) => ({
  ...columns(slot, START_COLUMNS),
  input_tokens: 0,
  output_tokens: 0,
  unpriced_steps: 0,
});

const insertRunRow = statement<NewRunRecord>((db, slot) => db.insertInto('runs').values(rowOf(slot)));
const insertOwnedRow = statement<NewRunRecord & { owner: number | null }>((db, slot) =>
  db.insertInto('runs').values({ ...rowOf(slot), owner: slot.owner }),
);

/** Returns the run's owner. Where several processes share the database, a queued run has none: the first process with room claims it. */
export async function insertRun(tx: Tx, given: NewRunRecord): Promise<number | null> {
  const row = { ...given, dedup_key: given.dedup_key === null ? null : indexed(given.dedup_key) };
  if (tx.epoch === null) {
    await tx.run(insertRunRow, row);
    return null;
  }
  const owner = row.status === 'queued' ? null : tx.epoch;
  await tx.run(insertOwnedRow, { ...row, owner });
  if (owner === null) await tx.notify('work');
  return owner;
}

const insertDefinitionRow = statement<{ hash: string; kind: string; name: string; body: string; stored_at: number }>(
  (db, slot) =>
    db
      .insertInto('definitions')
      .values({ hash: slot.hash, kind: slot.kind, name: slot.name, body: slot.body, stored_at: slot.stored_at })
      .onConflict((conflict) => conflict.doNothing()),
);

/** Keeps a resolved body under its hash, so that a run goes on with what it began with, and its prompts. */
export async function keepDefinition(
  tx: Tx,
  definition: { hash: string; kind: string; name: string; body: string; stored_at: number },
): Promise<void> {
  const isNew = (await tx.run(insertDefinitionRow, definition)) === 1;
  if (isNew) await keepPrompts(tx, JSON.parse(definition.body));
}

const endRunRow = forEach(TERMINAL_RUN_STATUSES, (status) =>
  statement<RunEndRecord>((db, slot) =>
    db
      .updateTable('runs')
      .set({
        ...columns(slot, END_COLUMNS),
        waiting_on: null,
      })
      .where('id', '=', slot.id)
      .where('status', 'in', statusesBefore(status)),
  ),
);

/** True when this call ended the run, false when it had ended so before. Throws where it may not end so. */
export async function endRun(tx: Tx, end: RunEndRecord): Promise<boolean> {
  if ((await tx.run(endRunRow[end.status], end)) === 1) return true;
  await refuseOther(tx, end);
  return false;
}

const setStatusRow = forEach(['running', 'interrupted'], (status) =>
  statement<{ id: string }>((db, slot) =>
    db.updateTable('runs').set({ status }).where('id', '=', slot.id).where('status', 'in', statusesBefore(status)),
  ),
);

/** Moves a run between live statuses. Throws where it may not be moved so. */
export async function setLiveStatus(tx: Tx, id: string, status: 'running' | 'interrupted'): Promise<void> {
  if ((await tx.run(setStatusRow[status], { id })) === 0) await refuseOther(tx, { id, status });
}

const statusOf = statement<{ id: string }, { status: string }>((db, slot) =>
  db.selectFrom('runs').select('status').where('id', '=', slot.id),
);

/** A change that is made already may be made again; one that is no transition is an error of the program. */
async function refuseOther(tx: Tx, { id, status }: { id: string; status: RunStatus }): Promise<void> {
  const [row] = await tx.all(statusOf, { id });
  if (row?.status === status) return;
  throw new AppError('conflict', `run ${id} is ${row?.status ?? 'not stored'} and cannot become ${status}`);
}

function forEach<K extends string, T>(keys: readonly K[], make: (key: K) => T): Record<K, T> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, T>;
}
