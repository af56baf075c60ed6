import { type RawBuilder, sql } from 'kysely';

/** No word begins so and all facts do, which makes one entry of all of them in an index of beginnings. */
export const FACT = '====';

/** The table `run_search`: terms (words, facts) under the `seq` of a run. */
export interface SearchedRuns {
  add(entries: readonly { seq: number; terms: readonly string[] }[]): RawBuilder<unknown>;
  /** Work that keeps it small, in portions of a few milliseconds; the server does it by itself. */
  readonly tidy: RawBuilder<unknown> | null;
  /** A table with the `rowid` of every run in it, of which all are read sooner. */
  readonly rows: string;
  /** One of each list of facts, and for each word one that begins so. */
  matches(facts: readonly (readonly string[])[], words: readonly string[]): RawBuilder<boolean>;
  /** Where others write, too: the number of a transaction that begins now, and of the oldest that goes on. */
  readonly transactions: Readonly<Record<'next' | 'oldest', RawBuilder<{ number: number }>>> | null;
  /** What a page out of few and out of many matches is ordered by. */
  readonly order: Readonly<Record<'few' | 'many', RawBuilder<unknown>>>;
}

const ROW = sql`run_search.rowid`;

export const fts5: SearchedRuns = {
  add: (entries) =>
    sql`insert into run_search (rowid, words) values ${sql.join(entries.map(({ seq, terms }) => sql`(${seq}, ${terms.join(' ')})`))}`,
  tidy: sql`insert into run_search (run_search, rank) values ('merge', 20)`,
  matches: (facts, words) => {
    const any = facts.map((list) => `(${list.map((fact) => `"${fact}"`).join(' OR ')})`);
    const asked = [...any, ...words.map((word) => `"${word}"*`)];
    return sql`run_search match ${asked.join(' AND ')}`;
  },
  // The table that FTS5 itself keeps the sizes of documents in.
  rows: 'run_search_docsize',
  transactions: null,
  order: { few: ROW, many: ROW },
};

export const tsvector: SearchedRuns = {
  add: (entries) =>
    sql`insert into run_search (rowid, words) values ${sql.join(
      entries.map(({ seq, terms }) => sql`(${seq}, array_to_tsvector(string_to_array(${terms.join(' ')}, ' ')))`),
    )}`,
  tidy: null,
  matches: (facts, words) => {
    const any = facts.map((list) => `(${list.map((fact) => `'${fact}'`).join(' | ')})`);
    const asked = [...any, ...words.map((word) => `'${word}':*`)];
    return sql`run_search.words @@ ${asked.join(' & ')}::tsquery`;
  },
  rows: 'run_search',
  transactions: {
    next: sql`select pg_current_xact_id()::text::bigint as number`,
    oldest: sql`select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as number`,
  },
  // A sum is no column of an index: the planner then reads the few matches and sorts them, and does not walk all runs.
  order: { few: sql`run_search.rowid + 0`, many: ROW },
};
