import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Tx } from './database.ts';
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

/** Rows that are read in one turn of the event loop. */
const PAGE = 2_000;

/** The same as they are stored, some at a time. */
export async function* counterPages(db: Kysely<Tables>): AsyncGenerator<Tables['counters'][]> {
  let last: Tables['counters'] | undefined;
  do {
    const { metric = '', labels = '' } = last ?? {};
    const rows = await db
      .selectFrom('counters')
      .selectAll()
      .where(sql<boolean>`(metric, labels) > (${metric}, ${labels})`)
      .orderBy('metric')
      .orderBy('labels')
      .limit(PAGE)
      .execute();
    yield rows;
    last = rows.length < PAGE ? undefined : rows.at(-1);
    if (last) await setImmediate();
  } while (last);
}

/** Where the labels of `pipeline_steps_total` have the model. */
export const MODEL_OF_STEPS = 4;

/** The models that have series. */
export async function countedModels(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db.selectFrom('counters').select('labels').where('metric', '=', 'pipeline_steps_total').execute();
  return new Set(rows.map(({ labels }) => (JSON.parse(labels) as string[])[MODEL_OF_STEPS] ?? ''));
}
