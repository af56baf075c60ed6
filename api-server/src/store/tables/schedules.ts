import { createRest } from '@signalbox/crds/process/rest';
import { type Kysely, sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import { lastMark, setMark } from './marks.ts';
import type { Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import { type Batch, inBatches } from './retention/in-batches.ts';

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

const DAY_MS = 86_400_000;

/** Days that fires are kept which can no longer be asked for, and those that were missed, which the page of their pipeline shows. */
const KEPT_DAYS = 2;
const MISSED_DAYS = 30;

/** Removes old fires, pipeline by pipeline: the key begins with its name. Answers how many. */
export async function pruneFires(
  database: Pick<Database, 'db' | 'write'>,
  { now, catchUpSeconds }: { now: number; catchUpSeconds: number },
): Promise<number> {
  const asked = now - catchUpSeconds * 1000 - KEPT_DAYS * DAY_MS;
  const missed = Math.min(asked, now - MISSED_DAYS * DAY_MS);
  const rest = createRest();
  let removed = 0;
  for (let name = await nextPipeline(database.db, ''); name !== null; name = await nextPipeline(database.db, name)) {
    const pipeline = name;
    removed += await inBatches(database, (tx, most) => removeFires(tx, { pipeline, asked, missed, most }));
    await rest();
  }
  return removed;
}

async function nextPipeline(db: Kysely<Tables>, after: string): Promise<string | null> {
  const row = await db
    .selectFrom('schedule_fires')
    .select('pipeline_name')
    .where('pipeline_name', '>', after)
    .orderBy('pipeline_name')
    .limit(1)
    .executeTakeFirst();
  return row?.pipeline_name ?? null;
}

interface Old {
  pipeline: string;
  asked: number;
  missed: number;
  most: number;
}

async function removeFires({ db }: Tx, { pipeline, asked, missed, most }: Old): Promise<Batch> {
  const { numDeletedRows } = await db
    .deleteFrom('schedule_fires')
    .where('pipeline_name', '=', pipeline)
    .where('fire_at', 'in', ({ selectFrom }) =>
      selectFrom('schedule_fires')
        .select('fire_at')
        .where('pipeline_name', '=', pipeline)
        .where('fire_at', '<', asked)
        .where((one) => one.or([one('missed_at', 'is', null), one('fire_at', '<', missed)]))
        .limit(most),
    )
    .executeTakeFirst();
  const removed = Number(numDeletedRows);
  return { removed, seen: removed, more: removed === most };
}
