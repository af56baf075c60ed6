import { AppError } from '@signalbox/crds';
import { TERMINAL_RUN_STATUSES, type RunStatus } from '../../runs/state/model.ts';
import { statusesBefore } from '../../runs/state/status.ts';
import { keepRaw } from './raw-bodies.ts';
import { END_COLUMNS, START_COLUMNS, type StoredRun } from './run-row.ts';
import type { Tx } from '../db/database.ts';
import { keepPrompts } from './prompt-templates.ts';
import { columns, statement } from '../db/statement.ts';
import { indexed } from './duplicates.ts';
import type { NewRunRecord, RunEndRecord } from '../../runs/state/records.ts';

const rowOf = (slot: StoredRun) => ({
  ...columns(slot, START_COLUMNS),
  input_tokens: 0,
  output_tokens: 0,
  unpriced_steps: 0,
  warning_count: 0,
});

const insertRunRow = statement<StoredRun>((db, slot) => db.insertInto('runs').values(rowOf(slot)));
const insertOwnedRow = statement<StoredRun & { owner: number | null }>((db, slot) =>
  db.insertInto('runs').values({ ...rowOf(slot), owner: slot.owner }),
);

/** Returns the run's owner. Where several processes share the database, a queued run has none: the first process with room claims it. */
export async function insertRun(tx: Tx, given: NewRunRecord): Promise<number | null> {
  const row = {
    ...given,
    ...(await keepRaw(tx, given.raw, given.triggered_at)),
    dedup_key: given.dedup_key === null ? null : indexed(given.dedup_key),
  };
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

const HOUR_MS = 3_600_000;

const touchDefinition = statement<{ hash: string; stored_at: number; before: number }>((db, slot) =>
  db
    .updateTable('definitions')
    .set({ stored_at: slot.stored_at })
    .where('hash', '=', slot.hash)
    .where('stored_at', '<', slot.before),
);

/**
 * Keeps a resolved body under its hash, so that a run goes on with what it began with, and its prompts. Retention leaves one that is
 * used: it is touched first, so that a removal at the same time comes before, and the body is written again, or finds it touched.
 */
export async function keepDefinition(
  tx: Tx,
  definition: { hash: string; kind: string; name: string; body: string; stored_at: number },
): Promise<void> {
  const { hash, stored_at } = definition;
  if ((await tx.run(touchDefinition, { hash, stored_at, before: stored_at - HOUR_MS })) === 1) return;
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
