import type { Kysely } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

const upsert = statement<{ name: string; value: number }>((db, slot) =>
  db
    .insertInto('marks')
    .values({ name: slot.name, value: slot.value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet((row) => ({ value: row.ref('excluded.value') }))),
);

/** Keeps a number that outlives the process, under its name. */
export async function setMark(tx: Tx, name: string, value: number): Promise<void> {
  await tx.run(upsert, { name, value });
}

/** Null where it was never kept. */
export async function lastMark(db: Kysely<Tables>, name: string): Promise<number | null> {
  const row = await db.selectFrom('marks').select('value').where('name', '=', name).executeTakeFirst();
  return row ? row.value : null;
}

/** The marks whose names begin with `prefix`, without it. */
export async function marksWith(db: Kysely<Tables>, prefix: string): Promise<{ name: string; value: number }[]> {
  const rows = await db.selectFrom('marks').selectAll().where('name', 'like', `${prefix}%`).orderBy('name').execute();
  return rows.map(({ name, value }) => ({ name: name.slice(prefix.length), value }));
}

export async function removeMark({ db }: Tx, name: string): Promise<void> {
  await db.deleteFrom('marks').where('name', '=', name).execute();
}
