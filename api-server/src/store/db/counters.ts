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
type Rows = Tables['counters'][];

/**
 * Reads the roll-ups as they are stored, some at a time; after the first time only those that may have changed: the database answers one
 * text for each metric and first label, and what is the same text as before is left out. Of a metric it reads the first `most` rows.
 */
export function createCounterReader(
  reader: () => Kysely<Tables>,
  { most = MOST_ROWS, mostKnown = MOST_KNOWN } = {},
): () => AsyncIterable<Rows> {
  const known = new Map<string, string>();
  return async function* () {
    const db = reader();
    const { objectOf, upTo } = dialectOf(db);
    const { rows: parts } = await sql<{ metric: string; part: string; content: string }>`
      select metric, ${upTo('labels', ',')} as part, ${objectOf('labels', 'value')} as content
      from ${await countersUpTo(db, most)} as counters group by metric, ${upTo('labels', ',')}`.execute(db);
    const isLong = parts.reduce((sum, { content }) => sum + content.length, 0) > mostKnown;
    let rows: Rows = [];
    for (const { metric, part, content } of parts) {
      const name = `${metric} ${part}`;
      const kept = isLong ? hash('sha1', content, 'hex') : content;
      if (known.get(name) === kept) continue;
      known.set(name, kept);
      for (const [labels, value] of Object.entries(JSON.parse(content) as Record<string, number>)) {
        rows.push({ metric, labels, value });
        if (rows.length < IN_ONE_TURN) continue;
        yield rows;
        rows = [];
        await setImmediate();
      }
    }
    yield rows;
  };
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
