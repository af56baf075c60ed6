import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Tx } from './database.ts';
import { dialectOf } from './dialect.ts';
import type { Tables } from './schema.ts';
import { statement } from './statement.ts';
import type { Counter } from '../../runs/state/records.ts';

export type { Counter };

/** Adds one value to one roll-up. */
export const bumpCounter = statement<{ metric: string; labels: string; value: number }>((db, slot) =>
  db
    .insertInto('counters')
    .values({ metric: slot.metric, labels: slot.labels, value: slot.value })
    .onConflict((conflict) =>
      conflict.columns(['metric', 'labels']).doUpdateSet((row) => ({
        value: row('counters.value', '+', row.ref('excluded.value')),
      })),
    ),
);

/** Labels are part of a key; a model's name comes from outside. */
const MAX_LABEL = 120;

/** Adds to roll-ups in the caller's transaction, so that a scrape never scans runs. */
export function addCounters(tx: Pick<Tx, 'count'>, counters: readonly Counter[]): void {
  for (const { metric, labels, value } of counters) {
    const isLong = labels.some((label) => label.length > MAX_LABEL);
    const kept = isLong ? labels.map((label) => label.slice(0, MAX_LABEL)) : labels;
    tx.count({ metric, labels: kept, value });
  }
}

export async function readCounters(db: Kysely<Tables>): Promise<Counter[]> {
  const rows = await db.selectFrom('counters').selectAll().execute();
  return rows.map(({ metric, labels, value }) => ({ metric, labels: JSON.parse(labels) as string[], value }));
}

/** Rows of one metric that are read: more than twelve, the parts of a histogram, of each combination of names that is told apart. */
const MOST_ROWS = 120_000;

/** Characters that are remembered from one scrape to the next; of longer texts the hashes, which take longer to compare. */
const MOST_KNOWN = 4 * 2 ** 20;

/** Rows that are handed on in one turn of the event loop. */
const IN_ONE_TURN = 1_000;

/** After which a server is asked for all rows again: one that took over from another may have lost changes. In milliseconds. */
const ALL_AGAIN_AFTER = 3_600_000;

type Row = Tables['counters'];

/**
 * Reads the roll-ups as they are stored, some at a time; after the first time only those that may have changed. A server answers them
 * alone; the embedded database answers one text for each metric and first label, and what is the same text as before is left out. Of a
 * metric it reads the first `most` rows.
 */
export function createCounterReader(
  reader: () => Kysely<Tables>,
  { most = MOST_ROWS, mostKnown = MOST_KNOWN, now = () => performance.now() } = {},
): () => AsyncIterable<Row[]> {
  const known = new Map<string, string>();
  /** Null where all have to be read. */
  let last: { mark: string; allAt: number } | null = null;
  return async function* () {
    const db = reader();
    const at = now();
    const mark = await markOf(db);
    if (last && at - last.allAt < ALL_AGAIN_AFTER) {
      yield* inTurns(await changedSince(db, last.mark));
      last = mark === null ? null : { mark, allAt: last.allAt };
      return;
    }
    const isWhole = !(await hasMoreThan(db, most));
    yield* inTurns(newRows(await readParts(db, isWhole ? null : most), { known, mostKnown }));
    last = isWhole && mark ? { mark, allAt: at } : null;
  };
}

async function markOf(db: Kysely<Tables>): Promise<string | null> {
  const { changes } = dialectOf(db);
  if (!changes) return null;
  const { rows } = await sql<{ mark: string }>`select ${changes.mark} as mark`.execute(db);
  return rows[0]?.mark ?? null;
}

const changedSince = (db: Kysely<Tables>, mark: string): Promise<Row[]> =>
  db
    .selectFrom('counters')
    .selectAll()
    .where(dialectOf(db).changes?.since(mark) ?? sql<boolean>`1 = 1`)
    .execute();

/** The rows with the same metric and first label. */
interface Part {
  metric: string;
  part: string;
  /** Values by labels, as JSON. */
  content: string;
}

/** All, or the first `most` rows of each metric. */
async function readParts(db: Kysely<Tables>, most: number | null): Promise<Part[]> {
  const { objectOf, upTo } = dialectOf(db);
  const from = most === null ? sql.table('counters') : firstRows(most);
  const { rows } = await sql<Part>`
    select metric, ${upTo('labels', ',')} as part, ${objectOf('labels', 'value')} as content
    from ${from} as counters group by metric, ${upTo('labels', ',')}`.execute(db);
  return rows;
}

/** The rows of the parts that are not as they were. */
function* newRows(
  parts: readonly Part[],
  { known, mostKnown }: { known: Map<string, string>; mostKnown: number },
): Iterable<Row> {
  const isLong = parts.reduce((sum, { content }) => sum + content.length, 0) > mostKnown;
  for (const { metric, part, content } of parts) {
    const name = `${metric} ${part}`;
    const kept = isLong ? hash('sha1', content, 'hex') : content;
    if (known.get(name) === kept) continue;
    known.set(name, kept);
    for (const [labels, value] of Object.entries(JSON.parse(content) as Record<string, number>))
      yield { metric, labels, value };
  }
}

/** Others have turns of the event loop meanwhile. */
async function* inTurns(all: Iterable<Row>): AsyncIterable<Row[]> {
  let rows: Row[] = [];
  for (const row of all) {
    rows.push(row);
    if (rows.length < IN_ONE_TURN) continue;
    yield rows;
    rows = [];
    await setImmediate();
  }
  yield rows;
}

/** Where the labels of `pipeline_steps_total` have the model. */
export const MODEL_OF_STEPS = 4;

async function hasMoreThan(db: Kysely<Tables>, rows: number): Promise<boolean> {
  const more = await db.selectFrom('counters').select('metric').limit(1).offset(rows).execute();
  return more.length > 0;
}

/** Numbering takes time: it is for tables that have more than `most` rows. */
const firstRows = (most: number) =>
  sql`(select * from (select *, row_number() over (partition by metric order by labels) as nth from counters) as numbered
    where nth <= ${most})`;

/** The models that have series. */
export const countedModels = (db: Kysely<Tables>) => counted(db, 'pipeline_steps_total', MODEL_OF_STEPS);

/** The teams that have series. */
export const countedTeams = (db: Kysely<Tables>) => counted(db, 'pipeline_tokens_total', 0);

async function counted(db: Kysely<Tables>, metric: string, label: number): Promise<Set<string>> {
  return new Set((await countedLabels(db, metric)).map((labels) => labels[label] ?? ''));
}

/** The labels of a metric, of the rows that a scrape reads. */
export async function countedLabels(db: Kysely<Tables>, metric: string): Promise<string[][]> {
  const query = db.selectFrom('counters').select('labels').where('metric', '=', metric);
  const rows = await query.orderBy('labels').limit(MOST_ROWS).execute();
  return rows.map(({ labels }) => JSON.parse(labels) as string[]);
}
