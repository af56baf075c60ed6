import type { Eventually, Tx } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { PackedEvents } from '../../runs/state/events.ts';

const insertEvents = statement<{ run_id: string; first_seq: number; events: string }>((db, slot) =>
  db
    .insertInto('run_events')
    .values({ run_id: slot.run_id, first_seq: slot.first_seq, events: slot.events })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Appends events that a run gathered since its last write. */
export const appendEvents = (tx: Tx, runId: string, { firstSeq, json }: PackedEvents): Eventually<number> =>
  tx.run(insertEvents, { run_id: runId, first_seq: firstSeq, events: json });
