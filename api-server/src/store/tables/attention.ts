import { type Kysely, sql } from 'kysely';
import type { Message } from '../../notify/message.ts';
import { type Attention, needsAttention } from '../../runs/state/attention.ts';
import { camelCase, snakeCase } from '../../runs/state/key-case.ts';
import type { EndedRunRecord } from '../../runs/state/records.ts';
import type { Tx } from '../db/database.ts';
import type { AttentionRow, Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

const openRow = statement<EndedRunRecord>((db, slot) =>
  db.insertInto('attention').values({ run_id: slot.id, state: 'open', team: slot.team, opened_at: slot.completed_at }),
);

/** Opens what the end of a run leaves to people, or resolves what the run repeats. Most runs need neither. */
export async function noteEnd(tx: Tx, run: EndedRunRecord): Promise<void> {
  const { status, stage } = run;
  if (needsAttention({ status, stage, isSubRun: run.parent_run_id !== null })) await tx.run(openRow, run);
  if (status === 'completed' && stage === 'production' && run.rerun_of !== null) await resolveOriginals(tx, run);
}

/** A completed production rerun handles its original, and the one that this repeated. */
async function resolveOriginals(tx: Tx, { id, rerun_of, completed_at }: EndedRunRecord): Promise<void> {
  const { rows } = await sql<{ run_id: string }>`
    UPDATE attention SET state = 'resolved', resolution = 'handled', resolved_at = ${completed_at}, resolved_by = 'signalbox',
      note = ${`The rerun ${id} completed.`}
    WHERE state <> 'resolved' AND run_id IN (
      WITH RECURSIVE originals (id, repeats) AS (
        SELECT id, rerun_of FROM runs WHERE id = ${rerun_of}
        UNION SELECT runs.id, runs.rerun_of FROM runs JOIN originals ON runs.id = originals.repeats)
      SELECT id FROM originals)
    RETURNING run_id`.execute(tx.db);
  for (const { run_id: original } of rows) await stopReminders(tx, original, completed_at);
}

const REMIND = 'remind';

/** Nobody is reminded of what somebody looks at. */
async function stopReminders(tx: Tx, runId: string, at: number): Promise<void> {
  await tx.db
    .updateTable('notifications')
    .set({ status: 'dismissed', ended_at: at })
    .where('run_id', '=', runId)
    .where('event', '=', REMIND)
    .where('status', '=', 'pending')
    .execute();
}

/** Those that were stopped go on. */
async function resumeReminders(tx: Tx, runId: string, at: number): Promise<void> {
  const stopped = await tx.db
    .selectFrom('notifications')
    .select(['id', 'message'])
    .where('run_id', '=', runId)
    .where('event', '=', REMIND)
    .where('status', '=', 'dismissed')
    .execute();
  for (const { id, message } of stopped) {
    const due = at + ((JSON.parse(message) as Pick<Message, 'repeatMs'>).repeatMs ?? 0);
    const again = { status: 'pending', attempts: 0, due_at: due, tried_from: due, ended_at: null };
    await tx.db.updateTable('notifications').set(again).where('id', '=', id).execute();
  }
}

const toAttention = ({ run_id: _id, team: _team, ...row }: AttentionRow): Attention => camelCase(row) as Attention;

/** Null for a run that needs no attention. */
export async function attentionOf(db: Kysely<Tables>, runId: string): Promise<Attention | null> {
  const row = await db.selectFrom('attention').selectAll().where('run_id', '=', runId).executeTakeFirst();
  return row ? toAttention(row) : null;
}

/** With its reminders: they stop once somebody looks at the run, and go on when it is opened again. */
export async function storeAttention(tx: Tx, runId: string, changed: Attention, at: number): Promise<void> {
  await tx.db.updateTable('attention').set(snakeCase(changed)).where('run_id', '=', runId).execute();
  await (changed.state === 'open' ? resumeReminders : stopReminders)(tx, runId, at);
}

export interface OpenAttention {
  team: string | null;
  runs: number;
  /** Of the one that is open the longest. */
  since: number;
}

/** Runs that nobody has acknowledged, by team. */
export async function openAttention(db: Kysely<Tables>): Promise<OpenAttention[]> {
  const rows = await db
    .selectFrom('attention')
    .select(({ fn }) => [
      'team',
      fn.countAll<number | string>().as('runs'),
      fn.min<number | string>('opened_at').as('since'),
    ])
    .where('state', '=', 'open')
    .groupBy('team')
    .execute();
  return rows.map(({ team, runs, since }) => ({ team, runs: Number(runs), since: Number(since) }));
}

/** How many runs nobody has acknowledged. */
export async function countOpen(db: Kysely<Tables>): Promise<number> {
  const { n } = await db
    .selectFrom('attention')
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow();
  return Number(n);
}
