import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import { beyondFacts, filtered, type RunQuery } from './conditions.ts';
import { askedFacts } from './facts.ts';
import { dayOf, labelsOf, searchedUpTo } from './index-runs.ts';
import type { PageOfRuns, RunFilter } from './run-filter.ts';
import { askedWords, hasWords, wordsOfRun } from './words.ts';

export interface Found {
  seqs: number[];
  /** How many match, counted up to `most`. */
  counted: number;
}

interface Asked extends Omit<PageOfRuns, 'order'> {
  most: number;
  /** By `seq`. */
  way: 'asc' | 'desc';
}

/** Filters that are no fact of a run: by time, and by what changes after its end. */
const NO_FACTS: ReadonlySet<string> = new Set<keyof RunFilter>(['since', 'until', 'attention', 'parent']);
/** One of these alone is answered by an index in the order of the list. */
const INDEXED: ReadonlySet<string> = new Set<keyof RunFilter>(['status', 'pipeline']);

const keysOf = (filter: RunFilter) => Object.keys(filter).filter((key) => filter[key as keyof RunFilter] !== undefined);

/** Entries that a query skips where a shorter way to them is not worth its questions. */
const MAX_SKIPPED = 1_000;

function isPlain(filter: RunFilter, offset: number): boolean {
  const keys = keysOf(filter);
  if (keys.length === 1 && INDEXED.has(keys[0] ?? '')) return true;
  const isTimed = filter.since !== undefined || filter.until !== undefined;
  return keys.every((key) => NO_FACTS.has(key)) && !isTimed && offset <= MAX_SKIPPED;
}

/** Which runs a page shows, by their `seq`; the rows are read for these alone. */
export async function findRuns(db: Kysely<Tables>, filter: RunFilter, page: Asked): Promise<Found> {
  if (filter.q !== undefined && askedWords(filter.q).length === 0) return { seqs: [], counted: 0 };
  return isPlain(filter, page.offset) ? plainly(db, filter, page) : throughSearch(db, filter, page);
}

/** From this many on, the first of them are found sooner by looking at the runs in their order than by putting all of them in order. */
const MANY = 500;

async function plainly(db: Kysely<Tables>, filter: RunFilter, page: Asked): Promise<Found> {
  const { before, offset, limit, most, way } = page;
  const { attention, ...others } = filter;
  const isAttention = attention !== undefined && keysOf(others).length === 0;
  // Each row of it is a run: they are counted without the runs.
  const waiting = db.selectFrom('attention').where('state', 'in', attention ?? []);
  const known = isAttention ? await count(db, waiting.select(sql<number>`0`.as('seq')).limit(most)) : null;
  const one = waiting.select('run_id').whereRef('run_id', '=', sql.ref('runs.id'));
  const runs = (known ?? 0) < MANY ? filtered(db, filter) : db.selectFrom('runs').where(({ exists }) => exists(one));
  const all = runs.select('runs.seq');
  const window = before === undefined ? all.offset(offset) : all.where('runs.seq', '<', before);
  const rows = await window.orderBy('runs.seq', way).limit(limit).execute();
  return { seqs: seqsOf(rows), counted: known ?? (await count(db, all.limit(most))) };
}

const seqsOf = (rows: readonly { seq: number }[]): number[] => rows.map(({ seq }) => seq);

async function count(db: Kysely<Tables>, rows: SelectQueryBuilder<Tables, never, { seq: number }>): Promise<number> {
  const { n } = await db
    .selectFrom(rows.as('some'))
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Ended runs out of the search, and the few that it does not know yet by their rows. */
async function throughSearch(db: Kysely<Tables>, filter: RunFilter, page: Asked): Promise<Found> {
  const { before, offset, limit, most, way } = page;
  const upTo = await searchedUpTo(db);
  const fresh = await unsearched(db, filter, { upTo, enough: Math.max(most, offset + limit), way });
  const known = await searched(db, filter);
  const counted = await count(db, known.where('run_search.rowid', '<=', upTo).limit(most));
  const above = before === undefined ? fresh : fresh.filter((seq) => seq < before);
  // Fresh runs may stand anywhere between the known ones: as many known ones more are read as there are.
  const skipped = before === undefined ? Math.max(0, offset - above.length) : 0;
  const window = before === undefined ? known.offset(skipped) : known.where('run_search.rowid', '<', before);
  const { few, many } = dialectOf(db).searched.order;
  const rows = await window
    .orderBy(counted < most ? few : many, way)
    .limit(limit + above.length)
    .execute();
  const both = [...new Set([...above, ...seqsOf(rows)])].sort((a, b) => (way === 'asc' ? a - b : b - a));
  const from = before === undefined ? offset - skipped : 0;
  return { seqs: both.slice(from, from + limit), counted: Math.min(most, counted + fresh.length) };
}

/** Matching runs that the search knows, also those that it got to know since the others were read. */
async function searched(db: Kysely<Tables>, filter: RunFilter) {
  const { first, last } = await bounds(db, filter);
  const words = askedWords(filter.q ?? '');
  const matching = db
    .selectFrom('run_search')
    .select('run_search.rowid as seq')
    .where(dialectOf(db).searched.matches(askedFacts(filter), words))
    .where('run_search.rowid', '>=', first)
    .where('run_search.rowid', '<=', last);
  if (!keysOf(filter).some((key) => NO_FACTS.has(key))) return matching;
  return matching.where(({ exists, selectFrom }) => {
    const row = selectFrom('runs').select('runs.id').whereRef('runs.seq', '=', 'run_search.rowid');
    return exists(beyondFacts(row as unknown as RunQuery, filter));
  });
}

/** Between which runs the time range of a filter lies, from the days on which they were triggered. */
async function bounds(db: Kysely<Tables>, { since, until }: RunFilter): Promise<{ first: number; last: number }> {
  const days = db.selectFrom('run_days');
  const start = days.select(({ fn }) => fn.min('first_seq').as('seq')).where('day', '>=', dayOf(since ?? 0));
  const end = days.select(({ fn }) => fn.max('last_seq').as('seq')).where('day', '<=', dayOf(until ?? 0));
  const first = since === undefined ? 0 : ((await start.executeTakeFirst())?.seq ?? Number.MAX_SAFE_INTEGER);
  const last = until === undefined ? Number.MAX_SAFE_INTEGER : ((await end.executeTakeFirst())?.seq ?? 0);
  return { first, last };
}

/** Rows whose words are compared one by one; during the first indexing of an old database these are many. */
const CHUNK = 500;

/** Matching runs that the search does not know: new ones, and those that were live when it looked. */
async function unsearched(
  db: Kysely<Tables>,
  filter: RunFilter,
  { upTo, ...some }: { upTo: number; enough: number; way: 'asc' | 'desc' },
): Promise<number[]> {
  const rows = filtered(db, filter);
  const fresh = await withWords(rows.where('runs.seq', '>', upTo), filter.q, some);
  const live = rows.where('runs.seq', 'in', (query) => query.selectFrom('unsearched').select('unsearched.seq'));
  return [...fresh, ...(await withWords(live, filter.q, some))];
}

async function withWords(
  matching: RunQuery,
  q: string | undefined,
  { enough, way }: { enough: number; way: 'asc' | 'desc' },
): Promise<number[]> {
  const ordered = matching.orderBy('runs.seq', way);
  if (q === undefined) return seqsOf(await ordered.select('runs.seq').limit(enough).execute());
  const asked = askedWords(q);
  const found: number[] = [];
  for (let last = way === 'asc' ? 0 : Number.MAX_SAFE_INTEGER; found.length < enough;) {
    const rows = await ordered
      .select(['runs.seq', 'runs.id', 'runs.pipeline_name', 'runs.summary', 'runs.context'])
      .where('runs.seq', way === 'asc' ? '>' : '<', last)
      .limit(CHUNK)
      .execute();
    const has = (row: (typeof rows)[number]) => hasWords(wordsOfRun({ ...row, labels: labelsOf(row.context) }), asked);
    found.push(...seqsOf(rows.filter(has)));
    last = rows.at(-1)?.seq ?? last;
    if (rows.length < CHUNK) break;
  }
  return found;
}
