import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import { LIST_COLUMNS, type RunColumns } from '../run-row.ts';
import { beyondFacts, filtered, type RunQuery } from './conditions.ts';
import { askedFacts } from './facts.ts';
import { dayOf, labelsOf, searchedUpTo } from './index-runs.ts';
import type { PageOfRuns, RunFilter } from './run-filter.ts';
import { askedWords, hasWords, wordsOfRun } from './words.ts';

export interface Found {
  rows: RunColumns[];
  /** How many match, counted up to `most`. */
  counted: number;
}

interface Asked extends Omit<PageOfRuns, 'order'> {
  most: number;
  /** By `seq`. */
  way: 'asc' | 'desc';
}

/** Filters that are no fact of a run: by time, and by what changes after its end. */
const NO_FACTS: ReadonlySet<string> = new Set<keyof RunFilter>([
  'since',
  'until',
  'attention',
  'parent',
  'teamless',
  'waiting',
]);
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

/** Numbers are bound as floats, and a full-text index looks for no range between floats: it reads all matches. */
const whole = (seq: number) => sql<number>`cast(${seq} as bigint)`;

type Rows = SelectQueryBuilder<Tables, never, { seq: number }>;

/** What a filter describes, before it is put in order. */
export interface Matching {
  /** Runs that an index or the search finds. */
  rows: Rows;
  /** Their `seq` in that query, and what it is ordered by. */
  seq: 'runs.seq' | 'run_search.rowid';
  order: RawBuilder<unknown>;
  /** Those that only their rows tell, in no order; more of them may be among `rows`. */
  fresh: readonly number[];
  /** How many `rows` there are and how many match, both counted up to `most`. */
  known: number;
  counted: number;
  /** The first of `rows`, as many as a page can need; null where they were not read with their number. */
  first: readonly number[] | null;
}

interface Wanted {
  way: 'asc' | 'desc';
  most: number;
  /** How many are wanted, beginning with the first one in that order. */
  enough: number;
  /** How many of them are skipped, and with which one a page ends. */
  skipped: number;
  page: number;
}

/** Null where nothing can match. */
export async function matching(db: Kysely<Tables>, filter: RunFilter, wanted: Wanted): Promise<Matching | null> {
  if (filter.q !== undefined && askedWords(filter.q).length === 0) return null;
  return isPlain(filter, wanted.skipped) ? plainly(db, filter, wanted.most) : throughSearch(db, filter, wanted);
}

/** The runs of a page: their rows are read for these alone. */
export async function findRuns(db: Kysely<Tables>, filter: RunFilter, page: Asked): Promise<Found> {
  const { before, offset, limit, most, way } = page;
  const last = offset + limit;
  const wanted = { way, most, enough: Math.max(most, last), skipped: offset, page: last };
  const found = await matching(db, filter, wanted);
  if (found === null) return { rows: [], counted: 0 };
  const { counted } = found;
  const { above, skipped, from, rows, first } =
    before === undefined ? fromOffset(found, offset) : fromRow(found, before);
  const known = rows.orderBy(found.order, way).limit(limit + above.length);
  // What is not there is not looked for once more.
  const isThere = found.known > skipped || found.known === most;
  // Of rows that are skipped a server would look up all that is shown.
  if (found.seq === 'runs.seq' && skipped === 0 && isThere) return { rows: await inFull(known), counted };
  const read = first ?? (isThere ? seqsOf(await known.execute()) : []);
  const both = [...new Set([...above, ...read])].sort((a, b) => (way === 'asc' ? a - b : b - a));
  return { rows: await rowsOf(db, both.slice(from, from + limit)), counted };
}

/** Where a page begins: behind `skipped` of the rows, and behind `from` of those with the fresh ones above. */
interface Begin extends Pick<Matching, 'rows' | 'first'> {
  above: readonly number[];
  skipped: number;
  from: number;
}

/** Fresh runs may stand anywhere between the known ones: as many known ones more are read as there are. */
function fromOffset({ rows, fresh, first }: Matching, offset: number): Begin {
  const skipped = Math.max(0, offset - fresh.length);
  return {
    rows: rows.offset(skipped),
    first: first?.slice(skipped) ?? null,
    above: fresh,
    skipped,
    from: offset - skipped,
  };
}

function fromRow({ rows, seq, fresh }: Matching, before: number): Begin {
  const below = rows.where(sql<boolean>`${sql.ref(seq)} < ${whole(before)}`);
  return { rows: below, first: null, above: fresh.filter((one) => one < before), skipped: 0, from: 0 };
}

/** What lists show of the runs of a query. */
const inFull = (runs: Rows): Promise<RunColumns[]> =>
  (runs as unknown as RunQuery).clearSelect().select(LIST_COLUMNS).execute();

/** In the order of `seqs`. */
export async function rowsOf(db: Kysely<Tables>, seqs: readonly number[]): Promise<RunColumns[]> {
  if (seqs.length === 0) return [];
  const rows = await db.selectFrom('runs').select(LIST_COLUMNS).where('seq', 'in', seqs).execute();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return seqs.flatMap((seq) => bySeq.get(seq) ?? []);
}

/** From this many on, the first of them are found sooner by looking at the runs in their order than by putting all of them in order. */
const MANY = 500;

async function plainly(db: Kysely<Tables>, filter: RunFilter, most: number): Promise<Matching> {
  const { attention, ...others } = filter;
  const isAttention = attention !== undefined && keysOf(others).length === 0;
  // Each row of it is a run: they are counted without the runs.
  const waiting = db.selectFrom('attention').where('state', 'in', attention ?? []);
  const known = isAttention ? await count(db, waiting.select(sql<number>`0`.as('seq')).limit(most)) : null;
  const one = waiting.select('run_id').whereRef('run_id', '=', sql.ref('runs.id'));
  const runs = (known ?? 0) < MANY ? filtered(db, filter) : db.selectFrom('runs').where(({ exists }) => exists(one));
  const rows = runs.select('runs.seq') as unknown as Rows;
  const counted = known ?? (await count(db, rows.limit(most)));
  return { rows, seq: 'runs.seq', order: sql.ref('runs.seq'), fresh: [], known: counted, counted, first: null };
}

const seqsOf = (rows: readonly { seq: number }[]): number[] => rows.map(({ seq }) => seq);

async function count(db: Kysely<Tables>, rows: Rows): Promise<number> {
  const { n } = await db
    .selectFrom(rows.as('some'))
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Ended runs out of the search, and the few that it does not know yet by their rows. */
async function throughSearch(db: Kysely<Tables>, filter: RunFilter, { most, ...wanted }: Wanted): Promise<Matching> {
  const upTo = await searchedUpTo(db);
  const fresh = await unsearched(db, filter, { upTo, ...wanted });
  const rows = (await searched(db, filter)) as unknown as Rows;
  const some = rows.where(sql<boolean>`run_search.rowid <= ${whole(upTo)}`).limit(most);
  // Mostly few runs have these words, or these facts and are so new.
  const hasFacts = keysOf(filter).some((key) => !NO_FACTS.has(key));
  const isFew = (filter.q !== undefined || (hasFacts && filter.since !== undefined)) && wanted.skipped <= MAX_SKIPPED;
  const few = isFew ? await countAndRead(db, some, { ...wanted, fresh }) : null;
  const known = few?.known ?? (await count(db, some));
  const { order } = dialectOf(db).searched;
  return {
    rows,
    seq: 'run_search.rowid',
    order: known < most ? order.few : order.many,
    fresh,
    known,
    counted: Math.min(most, known + fresh.length),
    first: few !== null && known < most ? few.first : null,
  };
}

/** In one go how many there are, and the first of them. */
async function countAndRead(
  db: Kysely<Tables>,
  some: Rows,
  { way, page, fresh }: Pick<Wanted, 'way' | 'page'> & { fresh: readonly number[] },
): Promise<{ known: number; first: number[] }> {
  const rows = await db
    .selectFrom(some.as('some'))
    .select(['seq', sql<number | string>`count(*) over ()`.as('known')])
    .orderBy('seq', way)
    .limit(page + fresh.length)
    .execute();
  return { known: Number(rows[0]?.known ?? 0), first: seqsOf(rows) };
}

/** A scalar: a planner would look for all runs of the time range if this was a condition of theirs. */
const TRIGGERED = sql<number>`(select triggered_at from runs where runs.seq = run_search.rowid)`;

/** Matching runs that the search knows, also those that it got to know since the others were read. */
async function searched(db: Kysely<Tables>, filter: RunFilter) {
  const { since, until, parent, teamless, waiting, attention } = filter;
  const [facts, words] = [askedFacts(filter), askedWords(filter.q ?? '')];
  const { matches, rows } = dialectOf(db).searched;
  const every = sql<Tables['run_search']>`${sql.table(rows)}`.as<'run_search'>(sql`run_search`);
  let query =
    facts.length + words.length > 0
      ? db.selectFrom('run_search').select('run_search.rowid as seq').where(matches(facts, words))
      : db.selectFrom(every).select('run_search.rowid as seq');
  // Of most days all runs are within the range: of those of its two edges the time is looked up.
  if (since !== undefined) {
    const { first, last } = await edgesOf(db, since);
    const is = sql<boolean>`(run_search.rowid > ${last} or ${TRIGGERED} >= ${since})`;
    query = query.where('run_search.rowid', '>=', whole(first)).where(is);
  }
  if (until !== undefined) {
    const { first, last } = await edgesOf(db, until);
    const is = sql<boolean>`(run_search.rowid < ${first} or ${TRIGGERED} < ${until})`;
    query = query.where('run_search.rowid', '<=', whole(last)).where(is);
  }
  if ([parent, teamless, waiting, attention].every((asked) => asked === undefined)) return query;
  return query.where(({ exists, selectFrom }) => {
    const row = selectFrom('runs').select('runs.id').whereRef('runs.seq', '=', 'run_search.rowid');
    return exists(beyondFacts(row as unknown as RunQuery, { parent, teamless, waiting, attention }));
  });
}

/** Before `first` no run is of the day of a time or a later one, after `last` none of that day or an earlier one. */
async function edgesOf(db: Kysely<Tables>, time: number): Promise<{ first: number; last: number }> {
  const day = dayOf(time);
  const edges = await db
    .selectFrom('run_days')
    .select(({ fn }) => [
      fn.min<number | null>('first_seq').filterWhere('day', '>=', day).as('first'),
      fn.max<number | null>('last_seq').filterWhere('day', '<=', day).as('last'),
    ])
    .executeTakeFirst();
  return { first: edges?.first ?? Number.MAX_SAFE_INTEGER, last: edges?.last ?? 0 };
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
