import type { Kysely } from 'kysely';
import { camelCase, snakeCase } from '../../../runs/state/key-case.ts';
import type { Tx } from '../../db/database.ts';
import type { RegressionRow, Tables } from '../../db/schema.ts';

/** `crashed`: the replay did not come to its end. */
export const REGRESSION_STATUSES = ['running', 'completed', 'crashed'] as const;
export type RegressionStatus = (typeof REGRESSION_STATUSES)[number];

/** One scheduled replay of a golden set (Orchestration 4.6). Times in milliseconds; figures are null until it has ended. */
export interface Regression {
  id: string;
  setId: string;
  fireAt: number;
  status: RegressionStatus;
  /** The run that holds the batch; null until it is stored. */
  runId: string | null;
  startedAt: number;
  /** When a process last saw that the replay goes on. */
  beatAt: number;
  completedAt: number | null;
  nMembers: number;
  nRegressed: number | null;
  nImproved: number | null;
  nGraded: number | null;
  nUnreplayable: number | null;
  /** Members pinned as correct without a label; null also where the replay ended before they were counted. */
  nUnlabelled: number | null;
  nDivergences: number | null;
  baselineAccuracy: number | null;
  freshAccuracy: number | null;
  /** Why an alert was sent; null where none was. */
  alert: string | null;
  /** Why it crashed. */
  error: string | null;
}

type Started = Pick<Regression, 'id' | 'setId' | 'fireAt' | 'startedAt' | 'nMembers'>;

/** Takes a fire; false when it is taken already, by whatever process. */
export async function takeRegression(tx: Tx, started: Started): Promise<boolean> {
  const taken = await tx.db
    .insertInto('regressions')
    .values({ ...NEW, ...snakeCase(started), beat_at: started.startedAt })
    .onConflict((conflict) => conflict.columns(['set_id', 'fire_at']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

const NEW = {
  status: 'running',
  run_id: null,
  completed_at: null,
  n_regressed: null,
  n_improved: null,
  n_graded: null,
  n_unreplayable: null,
  n_unlabelled: null,
  n_divergences: null,
  baseline_accuracy: null,
  fresh_accuracy: null,
  alert: null,
  error: null,
};

export async function runningRegressions(db: Kysely<Tables>): Promise<Regression[]> {
  const rows = await db.selectFrom('regressions').selectAll().where('status', '=', 'running').execute();
  return rows.map(toRegression);
}

type Change = Partial<Omit<Regression, 'id' | 'setId' | 'fireAt' | 'startedAt'>>;

/** Changes a replay that goes on; false where another process has ended it. */
export async function changeRegression(tx: Tx, id: string, change: Change): Promise<boolean> {
  const changed = await tx.db
    .updateTable('regressions')
    .set(snakeCase(change))
    .where('id', '=', id)
    .where('status', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}

/** The newest replays of a set. */
export async function regressionsOf(db: Kysely<Tables>, setId: string, limit: number): Promise<Regression[]> {
  const rows = await db
    .selectFrom('regressions')
    .selectAll()
    .where('set_id', '=', setId)
    .orderBy('fire_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRegression);
}

/** Null where there is none. */
export async function findRegression(db: Kysely<Tables>, id: string): Promise<Regression | null> {
  const row = await db.selectFrom('regressions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toRegression(row) : null;
}

/** The sets in use by name, each with its last replay that has ended. */
export async function lastReplays(db: Kysely<Tables>): Promise<{ name: string; last: Regression | null }[]> {
  const sets = await db.selectFrom('golden_sets').select(['id', 'name']).where('archived_at', 'is', null).execute();
  if (sets.length === 0) return [];
  const newest = db
    .selectFrom('regressions')
    .select(({ fn }) => ['set_id', fn.max('fire_at').as('fire_at')])
    .where('status', '<>', 'running')
    .groupBy('set_id')
    .as('newest');
  const rows = await db
    .selectFrom('regressions')
    .innerJoin(newest, (join) =>
      join.onRef('newest.set_id', '=', 'regressions.set_id').onRef('newest.fire_at', '=', 'regressions.fire_at'),
    )
    .selectAll('regressions')
    .execute();
  const bySet = new Map(rows.map((row) => [row.set_id, toRegression(row)]));
  return sets.map(({ id, name }) => ({ name, last: bySet.get(id) ?? null }));
}

const toRegression = (row: RegressionRow): Regression => ({
  ...camelCase(row),
  status: row.status as RegressionStatus,
});
