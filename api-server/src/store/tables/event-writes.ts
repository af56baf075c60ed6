import type { Kysely } from 'kysely';
import type { Eventually, Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import type { PackedEvents } from '../../runs/state/events.ts';
import type { RunEvent } from '../../runs/state/model.ts';

const insertEvents = statement<{ run_id: string; first_seq: number; events: string }>((db, slot) =>
  db
    .insertInto('run_events')
    .values({ run_id: slot.run_id, first_seq: slot.first_seq, events: slot.events })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Appends events that a run gathered since its last write. */
export const appendEvents = (tx: Tx, runId: string, { firstSeq, json }: PackedEvents): Eventually<number> =>
  tx.run(insertEvents, { run_id: runId, first_seq: firstSeq, events: json });

/** The stored events of a run after `afterSeq`, in order. */
export async function readEvents(db: Kysely<Tables>, runId: string, afterSeq: number): Promise<RunEvent[]> {
  const rows = await db
    .selectFrom('run_events')
    .select('events')
    .where('run_id', '=', runId)
    .orderBy('first_seq')
    .execute();
  return rows.flatMap(({ events }) => JSON.parse(events) as RunEvent[]).filter(({ seq }) => seq > afterSeq);
}
