import type { Kysely } from 'kysely';
import { camelCase, snakeCase } from '../../../runs/state/key-case.ts';
import type { Outcome } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';

/** A named collection of executions of one step (Orchestration 2.11). Times in milliseconds. */
export interface GoldenSet {
  id: string;
  name: string;
  description: string;
  /** Of a fan-out the name before the slash. */
  stepName: string;
  createdAt: number;
  createdBy: string;
  /** Null while the set is in use. */
  archivedAt: number | null;
}

export type OutcomeCounts = Record<Outcome, number>;

/** A set with the labels of its members. */
export interface CountedGoldenSet extends GoldenSet {
  labels: OutcomeCounts;
}

/** False where the name is taken, also by an archived set. */
export async function insertGoldenSet(tx: Tx, set: GoldenSet): Promise<boolean> {
  const inserted = await tx.db
    .insertInto('golden_sets')
    .values(snakeCase(set))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

/** All sets by name, at most `limit`. */
export async function listGoldenSets(db: Kysely<Tables>, limit: number): Promise<CountedGoldenSet[]> {
  const rows = await db.selectFrom('golden_sets').selectAll().orderBy('name').limit(limit).execute();
  const counted = await db
    .selectFrom('golden_members')
    .select(({ fn }) => ['set_id', 'outcome', fn.countAll<number | string>().as('n')])
    .groupBy(['set_id', 'outcome'])
    .execute();
  return rows.map((row) => ({
    ...camelCase(row),
    labels: labelsOf(counted.filter(({ set_id }) => set_id === row.id)),
  }));
}

function labelsOf(counted: readonly { outcome: string; n: number | string }[]): OutcomeCounts {
  const nOf = (outcome: Outcome) => Number(counted.find((one) => one.outcome === outcome)?.n ?? 0);
  return { correct: nOf('correct'), partial: nOf('partial'), incorrect: nOf('incorrect') };
}

export async function countGoldenSets(db: Kysely<Tables>): Promise<number> {
  const { n } = await db
    .selectFrom('golden_sets')
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Null where there is none. */
export async function findGoldenSet(
  db: Kysely<Tables>,
  by: { id: string } | { name: string },
): Promise<GoldenSet | null> {
  const query = db.selectFrom('golden_sets').selectAll();
  const row = await ('id' in by ? query.where('id', '=', by.id) : query.where('name', '=', by.name)).executeTakeFirst();
  return row ? camelCase(row) : null;
}

export async function setArchived(tx: Tx, id: string, at: number | null): Promise<void> {
  await tx.db.updateTable('golden_sets').set({ archived_at: at }).where('id', '=', id).execute();
}
