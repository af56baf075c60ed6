import { type Kysely, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { lastMark, setMark } from './marks.ts';
import type { Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';

const insertFire = statement<{ pipeline: string; at: number; now: number }>((db, slot) =>
  db
    .insertInto('schedule_fires')
    .values({ pipeline_name: slot.pipeline, fire_at: slot.at })
    .onConflict((conflict) =>
      conflict
        .columns(['pipeline_name', 'fire_at'])
        .doUpdateSet({ missed_at: null })
        .where('schedule_fires.missed_at', '>', slot.now),
    ),
);

/**
 * Takes the fire of a schedule; false when it is taken already. One that was missed at a later time than now is not: the clock
 * was ahead then and was set back.
 */
export async function takeFire(tx: Tx, pipeline: string, fire: { at: number; now: number }): Promise<boolean> {
  return (await tx.run(insertFire, { pipeline, ...fire })) === 1;
}

const insertMissed = statement<{ pipeline: string; at: number; now: number }>((db, slot) =>
  db
    .insertInto('schedule_fires')
    .values({ pipeline_name: slot.pipeline, fire_at: slot.at, missed_at: slot.now })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Uses up fires that nothing was started for, by whichever process; answers how many there were. */
export async function takeMissed(
  tx: Tx,
  { pipeline, fires, now }: { pipeline: string; fires: readonly number[]; now: number },
): Promise<number> {
  let missed = 0;
  for (const at of fires) missed += await tx.run(insertMissed, { pipeline, at, now });
  return missed;
}

export interface Missed {
  pipeline: string;
  count: number;
  /** When the latest of them should have fired, in milliseconds. */
  lastAt: number;
}

/** What was missed of each schedule, as long as its fires are kept. */
export async function missedFires(db: Kysely<Tables>): Promise<Missed[]> {
  const rows = await db
    .selectFrom('schedule_fires')
    .select([
      'pipeline_name',
      ({ fn }) => fn.countAll<number | string>().as('count'),
      ({ fn }) => fn.max('fire_at').as('last'),
    ])
    .where('missed_at', 'is not', null)
    .groupBy('pipeline_name')
    .execute();
  return rows.map((row) => ({ pipeline: row.pipeline_name, count: Number(row.count), lastAt: row.last }));
}

const LOOK = 'schedules_looked_at';

export const noteLook = (tx: Tx, at: number): Promise<void> => setMark(tx, LOOK, at);

/** When schedules were last looked at, in milliseconds; null on a new database. */
export const lastLook = (db: Kysely<Tables>): Promise<number | null> => lastMark(db, LOOK);

const moveMark = statement<{ name: string }>((db, slot) =>
  db
    .insertInto('marks')
    .values({ name: slot.name, value: 1 })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({ value: sql`${row.ref('marks.value')} + 1` })),
    ),
);

/** Tells all processes that share the database to read their definitions again. */
export async function spreadDefinitions(tx: Tx): Promise<void> {
  await tx.run(moveMark, { name: 'definitions' });
  await tx.notify('look');
}

/** Fires older than this can no longer be asked for. */
export async function pruneFires(tx: Tx, before: number): Promise<void> {
  await tx.db.deleteFrom('schedule_fires').where('fire_at', '<', before).execute();
}
