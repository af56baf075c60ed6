import { type Kysely, sql } from 'kysely';
import type { Run } from '../../runs/state/model.ts';
import type { Tables } from '../db/schema.ts';
import { LIST_COLUMNS, toRun, type RunColumns } from './run-row.ts';
import { findRuns, type Found } from './search/find-runs.ts';
import { findSorted } from './search/find-sorted.ts';
import type { PageOfRuns, RunFilter } from './search/run-filter.ts';
import { asWaiting, waitingChildren } from './sub-runs/waiting-children.ts';

export interface RunList {
  runs: Run[];
  total: number;
  totalIsLowerBound: boolean;
  /** Sequence from which the next page goes on; null on the last one. */
  next: number | null;
}

const MAX_COUNTED = 10_000;

/** Runs newest first or in another order, with how many there are: counted up to 10,000 (Orchestration 4.2). */
export async function listRuns(db: Kysely<Tables>, filter: RunFilter, page: PageOfRuns): Promise<RunList> {
  const { rows, counted } = await inOrder(db, filter, { ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const current = await currentSteps(db, shown);
  const waiting = await waitingChildren(db, shown);
  // Only the order by age goes on from a row.
  const last = rows.length > page.limit && (page.order ?? 'age') === 'age' ? shown.at(-1)?.seq : undefined;
  return {
    runs: shown.map((row) => toRun(asWaiting(row, waiting), current.get(row.id) ?? null)),
    total: Math.min(counted, MAX_COUNTED),
    totalIsLowerBound: counted > MAX_COUNTED,
    next: last ?? null,
  };
}

const MOST = MAX_COUNTED + 1;

const inOrder = (db: Kysely<Tables>, filter: RunFilter, { order = 'age', ...page }: PageOfRuns): Promise<Found> =>
  order === 'age' || order === '-age'
    ? findRuns(db, filter, { ...page, most: MOST, way: order === 'age' ? 'desc' : 'asc' })
    : findSorted(db, filter, { ...page, most: MOST, order });

/** Of these runs, those that there are, newest first. */
export async function runsById(db: Kysely<Tables>, ids: readonly string[]): Promise<Run[]> {
  const rows = await db.selectFrom('runs').select(LIST_COLUMNS).where('id', 'in', ids).orderBy('seq', 'desc').execute();
  return rows.map((row) => toRun(row, null));
}

/** What each live run of a page is doing now: its running step that comes last. */
export async function currentSteps(
  db: Kysely<Tables>,
  runs: readonly Pick<RunColumns, 'id' | 'completed_at'>[],
): Promise<Map<string, string>> {
  const live = runs.filter((run) => run.completed_at === null).map(({ id }) => id);
  if (live.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name'])
    .where('run_id', 'in', live)
    .where('status', '=', 'running')
    .orderBy('step_index')
    .orderBy('started_at')
    .execute();
  return new Map(rows.map((row) => [row.run_id, row.step_name]));
}

/** How the last runs of each pipeline stand, at most `most` of each, the newest at the end. */
export async function lastStatuses(
  db: Kysely<Tables>,
  pipelines: readonly string[],
  most: number,
): Promise<Map<string, string[]>> {
  const of = (name: string) =>
    sql`select * from (select pipeline_name as pipeline, status, seq from runs
      where pipeline_name = ${name} order by seq desc limit ${sql.lit(most)}) as one`;
  if (pipelines.length === 0) return new Map();
  const { rows } = await sql<{ pipeline: string; status: string; seq: number }>`${sql.join(
    pipelines.map(of),
    sql` union all `,
  )}`.execute(db);
  const found = Map.groupBy(
    rows.toSorted((a, b) => a.seq - b.seq),
    ({ pipeline }) => pipeline,
  );
  return new Map([...found].map(([name, all]) => [name, all.map(({ status }) => status)]));
}

/** A run as one line of a search. */
export interface FoundRun {
  id: string;
  pipeline: string;
  status: string;
  summary: string | null;
}

/** The letter after `f`: ids are lower-case hexadecimal, so that the range of a prefix is one of the primary key. */
const AFTER = 'g';
const MAX_SUMMARY = 200;

/** Runs whose id begins with `prefix`, the newest first. */
export async function runsByPrefix(db: Kysely<Tables>, prefix: string, limit: number): Promise<FoundRun[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'pipeline_name', 'status', 'summary'])
    .where('id', '>=', prefix)
    .where('id', '<', `${prefix}${AFTER}`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id, pipeline_name: pipeline, status, summary }) => ({
    id,
    pipeline,
    status,
    summary: summary && summary.slice(0, MAX_SUMMARY),
  }));
}
