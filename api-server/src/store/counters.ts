import type { Kysely } from 'kysely';
import type { Tx } from './database.ts';
import type { Tables } from './schema.ts';
import { statement } from './statement.ts';
import type { Counter } from '../runs/records.ts';

export type { Counter };

const bump = statement<{ metric: string; labels: string; value: number }>((db, slot) =>
  db
    .insertInto('counters')
    .values({ metric: slot.metric, labels: slot.labels, value: slot.value })
    .onConflict((conflict) =>
      conflict.columns(['metric', 'labels']).doUpdateSet((row) => ({
        value: row('counters.value', '+', row.ref('excluded.value')),
      })),
    ),
);

/** Adds to roll-ups in the caller's transaction, so that a scrape never scans runs (Design 8). */
export async function addCounters(tx: Tx, counters: readonly Counter[]): Promise<void> {
  for (const { metric, labels, value } of counters) await tx.run(bump, { metric, labels: JSON.stringify(labels), value });
}

export async function readCounters(db: Kysely<Tables>): Promise<Counter[]> {
  const rows = await db.selectFrom('counters').selectAll().execute();
  return rows.map(({ metric, labels, value }) => ({ metric, labels: JSON.parse(labels) as string[], value }));
}
