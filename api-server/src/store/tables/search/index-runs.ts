import { type Kysely, sql } from 'kysely';
import { ACTIVE_RUN_STATUSES, isTerminal, type RunStatus } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import { keepPacked } from '../bodies/keep-packed.ts';
import { type PackContext, packRuns, type PackedRun } from '../bodies/pack-runs.ts';
import { fitting, stepCounts } from '../bodies/step-counts.ts';
import { lastMark, setMark } from '../marks.ts';
import { isBatch } from './conditions.ts';
import { type Asked, factsOfRun } from './facts.ts';
import { wordsOfRun } from './words.ts';

/** Names the mark up to whose `seq` all runs were looked at. */
const MARK = 'search:runs';

const DAY_MS = 86_400_000;
export const dayOf = (time: number): number => Math.floor(time / DAY_MS);

export const searchedUpTo = async (db: Kysely<Tables>): Promise<number> => (await lastMark(db, MARK)) ?? 0;

const COLUMNS = [
  'runs.seq',
  'runs.id',
  'runs.pipeline_name',
  'runs.team',
  'runs.stage',
  'runs.severity',
  'runs.source',
  'runs.fingerprint',
  'runs.status',
  'runs.summary',
  'runs.triggered_at',
  'runs.warning_count',
  'runs.context',
  'runs.raw',
  'runs.definition_hash',
  isBatch.as('batches'),
] as const;

type Row = Awaited<ReturnType<typeof newRows>>[number];

const newRows = (db: Kysely<Tables>, after: number, { upTo, most }: Most) =>
  db
    .selectFrom('runs')
    .select(COLUMNS)
    .where('seq', '>', after)
    .where('seq', '<=', upTo)
    .orderBy('seq')
    .limit(most)
    .execute();

/** Runs that had not ended when they were looked at, and have since. */
const endedRows = (db: Kysely<Tables>, most: number) =>
  db
    .selectFrom('unsearched')
    // Not an inner join: the embedded database might begin with all runs.
    .crossJoin('runs')
    .select(COLUMNS)
    .whereRef('runs.seq', '=', 'unsearched.seq')
    .where('runs.status', 'not in', ACTIVE_RUN_STATUSES)
    .limit(most)
    .execute();

export async function newestRun(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .executeTakeFirst();
  return row?.seq ?? 0;
}

/** Whether there is a portion. */
export async function awaitsSearch(db: Kysely<Tables>, upTo: number): Promise<boolean> {
  if ((await searchedUpTo(db)) < upTo) return true;
  return (await endedRows(db, 1)).length > 0;
}

interface Most {
  upTo: number;
  most: number;
}

/** New runs after a `seq` up to `at`, and some that ended meanwhile. */
export interface Portion {
  after: number;
  at: number;
  rows: Row[];
  late: Row[];
  packed: PackedRun[];
  /** Whether there may be another portion. */
  more: boolean;
}

const hasEnded = ({ status }: Pick<Row, 'status'>) => isTerminal(status as RunStatus);

/** What comes next, read and compressed before the transaction that keeps it. */
export async function nextPortion(db: Kysely<Tables>, { upTo, most }: Most, context: PackContext): Promise<Portion> {
  const after = await searchedUpTo(db);
  const [news, ended] = [await newRows(db, after, { upTo, most }), await endedRows(db, most)];
  const all = [...news, ...ended];
  const ids = all.filter(hasEnded).map(({ id }) => id);
  const some = fitting(all, await stepCounts(db, ids));
  const rows = some.slice(0, news.length);
  const late = some.slice(news.length);
  const isLast = rows.length === news.length && news.length < most;
  return {
    after,
    at: isLast ? Math.max(after, upTo) : (rows.at(-1)?.seq ?? after),
    rows,
    late,
    packed: await packRuns(db, some.filter(hasEnded), context),
    more: !isLast || some.length < all.length || ended.length === most,
  };
}

/**
 * Makes runs findable and packs their texts; answers how many and where it got to. It is one transaction with its own mark: a
 * killed process loses nothing and does nothing twice.
 */
export async function enterPortion(
  tx: Tx,
  { after, at, rows, late, packed, more }: Portion,
): Promise<{ runs: number; at: number; more: boolean }> {
  await tx.lock(MARK);
  const { db } = tx;
  // Another process was quicker.
  if ((await searchedUpTo(db)) !== after) return { runs: 0, at: after, more: true };
  const done = late.map(({ seq }) => seq);
  if (done.length > 0) await db.deleteFrom('unsearched').where('seq', 'in', done).execute();
  const there = await keepPacked(tx, packed);
  await enter(
    db,
    [...rows, ...late].filter(({ seq }) => there.has(seq)),
  );
  const live = rows.filter((row) => !hasEnded(row)).map(({ seq }) => ({ seq }));
  if (live.length > 0) await db.insertInto('unsearched').values(live).execute();
  await noteDays(db, rows);
  if (at > after) await setMark(tx, MARK, at);
  return { runs: rows.length + late.length, at, more };
}

async function enter(db: Kysely<Tables>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const asked = await whoWasAsked(db, rows);
  const { searched } = dialectOf(db);
  const entries = rows.map((row) => {
    const labels = labelsOf(row.context);
    const facts = factsOfRun(row, labels, asked.get(row.id) ?? []);
    return { seq: row.seq, terms: [...facts, ...wordsOfRun({ ...row, labels })] };
  });
  await searched.add(entries).execute(db);
  await searched.tidy?.execute(db);
}

/** The labels in a stored context; none where it cannot be read, so that the run is found by what else there is of it. */
export function labelsOf(context: string): Record<string, unknown> {
  try {
    const { labels } = JSON.parse(context) as { labels?: unknown };
    return typeof labels === 'object' && labels !== null ? (labels as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

async function whoWasAsked(db: Kysely<Tables>, rows: readonly Row[]): Promise<Map<string, Asked[]>> {
  const ids = rows.map(({ id }) => id);
  const steps = await db
    .selectFrom('step_executions')
    .select(['run_id', 'agent', 'model'])
    .distinct()
    .where('run_id', 'in', ids)
    .execute();
  return Map.groupBy(steps, (step) => step.run_id);
}

async function noteDays(db: Kysely<Tables>, rows: readonly Row[]): Promise<void> {
  for (const [day, of] of Map.groupBy(rows, (row) => dayOf(row.triggered_at))) {
    const [first_seq, last_seq] = [of[0]?.seq ?? 0, of.at(-1)?.seq ?? 0];
    await db
      .insertInto('run_days')
      .values({ day, first_seq, last_seq })
      .onConflict((conflict) =>
        conflict.column('day').doUpdateSet({
          first_seq: sql<number>`case when run_days.first_seq < excluded.first_seq then run_days.first_seq else excluded.first_seq end`,
          last_seq: sql<number>`case when run_days.last_seq > excluded.last_seq then run_days.last_seq else excluded.last_seq end`,
        }),
      )
      .execute();
  }
}

/** Takes runs that are about to be removed out of the search. */
export async function forget(tx: Tx, seqs: readonly number[]): Promise<void> {
  await tx.db.deleteFrom('run_search').where('rowid', 'in', seqs).execute();
  await dialectOf(tx.db).searched.tidy?.execute(tx.db);
}
