import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CounterNames, TakeChanged } from './changed-counters.ts';
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

/** Rows that are handed on in one turn of the event loop. */
const IN_ONE_TURN = 1_000;

/** After which all rows are read again: a server that took over from another may have lost changes. In milliseconds. */
const ALL_AGAIN_AFTER = 3_600_000;

type Row = Tables['counters'];

/**
 * Reads the roll-ups as they are stored, some at a time: all of them the first time and once an hour, of each metric the first `most` rows;
 * else those that may have changed since the time before. A server tells them by itself, of the embedded database the process that writes.
 */
export function createCounterReader(
  { reader, changed }: { reader: () => Kysely<Tables>; changed?: TakeChanged | undefined },
  { most = MOST_ROWS, now = () => performance.now() } = {},
): () => AsyncIterable<Row[]> {
  /** Null where all have to be read: nothing was, or not to its end. */
  let last: { mark: string | null; allAt: number } | null = null;
  return async function* () {
    const [at, before] = [now(), last];
    last = null;
    const names = changed?.() ?? null;
    const db = reader();
    const mark = await markOf(db);
    const isNew = before && at - before.allAt < ALL_AGAIN_AFTER ? changedSince(db, { names, mark: before.mark }) : null;
    yield* inTurns(
      isNew ? await db.selectFrom('counters').selectAll().where(isNew).execute() : await readAll(db, most),
    );
    last = { mark, allAt: before && isNew ? before.allAt : at };
  };
}

async function markOf(db: Kysely<Tables>): Promise<string | null> {
  const { changes } = dialectOf(db);
  if (!changes) return null;
  const { rows } = await sql<{ mark: string }>`select ${changes.mark} as mark`.execute(db);
  return rows[0]?.mark ?? null;
}

/** What is true of rows that may have changed; null where that is not known. */
function changedSince(
  db: Kysely<Tables>,
  { names, mark }: { names: CounterNames | null; mark: string | null },
): RawBuilder<boolean> | null {
  const { changes } = dialectOf(db);
  if (changes && mark !== null) return changes.since(mark);
  return names && sql`(metric, labels) in (select value ->> 0, value ->> 1 from json_each(${JSON.stringify(names)}))`;
}

/** The values by labels as one text for each metric and first label, which takes a thread less than rows to answer. */
async function readAll(db: Kysely<Tables>, most: number): Promise<Iterable<Row>> {
  const { objectOf, upTo } = dialectOf(db);
  const { rows } = await sql<{ metric: string; content: string }>`
    select metric, ${objectOf('labels', 'value')} as content
    from ${await countersUpTo(db, most)} as counters group by metric, ${upTo('labels', ',')}`.execute(db);
  return rowsOf(rows);
}

function* rowsOf(parts: readonly { metric: string; content: string }[]): Iterable<Row> {
  for (const { metric, content } of parts)
    for (const [labels, value] of Object.entries(JSON.parse(content) as Record<string, number>))
      yield { metric, labels, value };
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

/** The first rows of each metric; all, without the time that numbering takes, where there are not so many. */
async function countersUpTo(db: Kysely<Tables>, most: number) {
  const more = await db.selectFrom('counters').select('metric').limit(1).offset(most).execute();
  return more.length === 0
    ? sql.table('counters')
    : sql`(select * from (select *, row_number() over (partition by metric order by labels) as nth from counters) as numbered
        where nth <= ${most})`;
}

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
