import { type Kysely, sql } from 'kysely';
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
  await sql`
    UPDATE attention SET state = 'resolved', resolution = 'handled', resolved_at = ${completed_at}, resolved_by = 'signalbox',
      note = ${`The rerun ${id} completed.`}
    WHERE state <> 'resolved' AND run_id IN (
      WITH RECURSIVE originals (id, repeats) AS (
        SELECT id, rerun_of FROM runs WHERE id = ${rerun_of}
        UNION SELECT runs.id, runs.rerun_of FROM runs JOIN originals ON runs.id = originals.repeats)
      SELECT id FROM originals)`.execute(tx.db);
}

const toAttention = ({ run_id: _id, team: _team, ...row }: AttentionRow): Attention => camelCase(row) as Attention;

/** Null for a run that needs no attention. */
export async function attentionOf(db: Kysely<Tables>, runId: string): Promise<Attention | null> {
  const row = await db.selectFrom('attention').selectAll().where('run_id', '=', runId).executeTakeFirst();
  return row ? toAttention(row) : null;
}

export async function storeAttention(tx: Tx, runId: string, changed: Attention): Promise<void> {
  await tx.db.updateTable('attention').set(snakeCase(changed)).where('run_id', '=', runId).execute();
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
