import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { AttentionState } from '../../runs/state/attention.ts';
import type { Run, RunStatus, Stage } from '../../runs/state/model.ts';
import type { RunOrder } from '../../runs/state/run-order.ts';
import { type Dialect, dialectOf, likeAnywhere } from '../db/dialect.ts';
import type { Tables } from '../db/schema.ts';
import { sequencesIn } from './results/run-order.ts';
import { LIST_COLUMNS, toRun, type RunColumns } from './run-row.ts';
import { asWaiting, waitingChildren } from './sub-runs/waiting-children.ts';

/** Filters of `GET /runs`; times in milliseconds, `since` included, `until` not. */
export interface RunFilter {
  /** Any of these. */
  status?: readonly RunStatus[];
  pipeline?: string;
  team?: string;
  stage?: Stage;
  severity?: string;
  source?: string;
  fingerprint?: string;
  /** Found in the summary, the pipeline's name or the beginning of the id, without regard to case. */
  q?: string;
  labels?: { key: string; value: string }[];
  since?: number;
  until?: number;
  agent?: string;
  model?: string;
  parent?: string;
  /** Only runs with warnings, or only those without. */
  warnings?: boolean;
  /** Only batches of replays, or only runs that are none. */
  replay?: boolean;
  /** Any of these. */
  attention?: readonly AttentionState[];
}

/** `before` is the sequence of the last row of the page before; it wins over `offset`. */
export interface PageOfRuns {
  limit: number;
  offset: number;
  before?: number;
  /** `age`, the newest first, where absent. */
  order?: RunOrder;
}

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
  const rows = await rowsOf(db, filter, page);
  const shown = rows.slice(0, page.limit);
  // Only the order by age goes on from a row.
  const last = rows.length > page.limit && isByAge(page) ? shown.at(-1) : undefined;
  const counted = await countUpTo(db, filter, MAX_COUNTED + 1);
  const current = await currentSteps(db, shown);
  const waiting = await waitingChildren(db, shown);
  return {
    runs: shown.map((row) => toRun(asWaiting(row, waiting), current.get(row.id) ?? null)),
    total: Math.min(counted, MAX_COUNTED),
    totalIsLowerBound: counted > MAX_COUNTED,
    next: last?.seq ?? null,
  };
}

const isByAge = ({ order }: PageOfRuns): boolean => order === undefined || order === 'age';

/** One row more than the page has, where there are more. */
async function rowsOf(db: Kysely<Tables>, filter: RunFilter, page: PageOfRuns) {
  const matching = filtered(db, filter);
  const { before, offset, order = 'age' } = page;
  const limit = page.limit + 1;
  if (order !== 'age') {
    const sequences = await sequencesIn(db, matching, order, { limit, offset });
    if (sequences.length === 0) return [];
    const rows = await db.selectFrom('runs').select(LIST_COLUMNS).where('runs.seq', 'in', sequences).execute();
    return rows.toSorted((a, b) => sequences.indexOf(a.seq) - sequences.indexOf(b.seq));
  }
  const window = before === undefined ? matching.offset(offset) : matching.where('runs.seq', '<', before);
  return window.select(LIST_COLUMNS).orderBy('runs.seq', 'desc').limit(limit).execute();
}

type RunQuery = SelectQueryBuilder<Tables, 'runs', object>;

const EQUAL = {
  pipeline: 'runs.pipeline_name',
  team: 'runs.team',
  stage: 'runs.stage',
  severity: 'runs.severity',
  source: 'runs.source',
  fingerprint: 'runs.fingerprint',
  parent: 'runs.parent_run_id',
} as const;

function within(query: RunQuery, { since, until }: RunFilter): RunQuery {
  const from = since === undefined ? query : query.where('runs.triggered_at', '>=', since);
  return until === undefined ? from : from.where('runs.triggered_at', '<', until);
}

function noticed(query: RunQuery, { warnings, attention }: RunFilter): RunQuery {
  const warned = warnings === undefined ? query : query.where('runs.warning_count', warnings ? '>' : '=', 0);
  if (attention === undefined) return warned;
  return warned.where('runs.id', 'in', ({ selectFrom }) =>
    selectFrom('attention').select('attention.run_id').where('attention.state', 'in', attention),
  );
}

function filtered(db: Kysely<Tables>, filter: RunFilter): RunQuery {
  const dialect = dialectOf(db);
  let query: RunQuery = db.selectFrom('runs');
  for (const [key, column] of Object.entries(EQUAL)) {
    const value = filter[key as keyof typeof EQUAL];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  if (filter.status !== undefined) query = query.where('runs.status', 'in', filter.status);
  query = noticed(within(query, filter), filter);
  const { replay } = filter;
  if (replay !== undefined)
    query = query.where(({ exists, not }) => (replay ? exists(batchOf(db)) : not(exists(batchOf(db)))));
  for (const label of filter.labels ?? []) query = query.where(dialect.hasEntry('runs.context', 'labels', label));
  if (filter.q !== undefined) query = query.where(mentions(dialect, filter.q));
  for (const column of ['agent', 'model'] as const) {
    const value = filter[column];
    if (value !== undefined) query = query.where(({ exists, selectFrom }) => exists(ofStep(selectFrom, column, value)));
  }
  return query;
}

const batchOf = (db: Kysely<Tables>) =>
  db.selectFrom('replays').select('replays.run_id').where('replays.run_id', '=', sql.ref<string>('runs.id'));

type SelectFrom = Kysely<Tables>['selectFrom'];

function ofStep(selectFrom: unknown, column: 'agent' | 'model', value: string) {
  return (selectFrom as SelectFrom)('step_executions')
    .select('step_executions.id')
    .whereRef('step_executions.run_id', '=', sql.ref('runs.id'))
    .where(`step_executions.${column}`, '=', value);
}

function mentions({ contains }: Dialect, words: string) {
  const beginning = likeAnywhere(words.toLowerCase()).slice(1);
  const id = sql<boolean>`runs.id like ${beginning} escape '\\'`;
  return sql<boolean>`(${contains('runs.summary', words)} or ${contains('runs.pipeline_name', words)} or ${id})`;
}

async function countUpTo(db: Kysely<Tables>, filter: RunFilter, most: number): Promise<number> {
  const some = filtered(db, filter).select('runs.seq').limit(most).as('some');
  const { n } = await db
    .selectFrom(some)
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

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
