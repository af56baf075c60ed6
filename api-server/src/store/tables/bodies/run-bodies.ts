import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Kysely } from 'kysely';
import type { RunEvent } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import type { RunRow, Tables } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';
import { appendEvents } from '../event-writes.ts';
import { readRaw } from '../raw-bodies.ts';

/** What only the page of a run shows, in one piece once the run has ended: the same words come in all of it. */
interface PackedBody {
  context: Record<string, unknown>;
  raw: unknown;
  events: RunEvent[];
}

/** In place of a context that was packed; it is JSON, too, for a query that looks into it at that moment. */
const PACKED = '{}';
/** A shorter body stays where it is. */
const WORTH_IT = 512;

type Texts = Pick<RunRow, 'context' | 'raw'>;
type Ended = Texts & { id: string; seq: number };

/** The stored events of some runs: `json` of all but the last, which stays, because a message that is sent later adds its line after it. */
async function eventsOf(
  db: Kysely<Tables>,
  runs: readonly Ended[],
): Promise<Map<string, { json: string; last: RunEvent }>> {
  const ids = runs.map(({ id }) => id);
  const rows = await db
    .selectFrom('run_events')
    .select(['run_id', 'events'])
    .where('run_id', 'in', ids)
    .orderBy('run_id')
    .orderBy('first_seq')
    .execute();
  const found = new Map<string, { json: string; last: RunEvent }>();
  for (const [id, of] of Map.groupBy(rows, (row) => row.run_id)) {
    const end = JSON.parse(of.at(-1)?.events ?? '[]') as RunEvent[];
    const last = end.pop();
    // An array loses its brackets to join the others.
    const texts = [...of.slice(0, -1).map(({ events }) => events), JSON.stringify(end)].map((text) =>
      text.slice(1, -1),
    );
    if (last) found.set(id, { json: texts.filter((text) => text !== '').join(','), last });
  }
  return found;
}

const removeEvents = statement<{ run_id: string }>((db, slot) =>
  db.deleteFrom('run_events').where('run_id', '=', slot.run_id),
);
const clearTexts = statement<{ seq: number }>((db, slot) =>
  db.updateTable('runs').set({ context: PACKED, raw: null }).where('seq', '=', slot.seq),
);
const addBody = statement<{ seq: number; body: Uint8Array }>((db, slot) =>
  db.insertInto('run_bodies').values({ seq: slot.seq, body: slot.body }),
);

/** Packs the large texts of runs that have ended, which nobody changes any more. */
export async function packBodies(tx: Tx, ended: readonly Ended[]): Promise<void> {
  const runs = ended.filter(({ context }) => context !== PACKED);
  if (runs.length === 0) return;
  const events = await eventsOf(tx.db, runs);
  for (const { id, seq, context, raw } of runs) {
    const known = events.get(id);
    const text = `{"context":${context},"raw":${raw ?? 'null'},"events":[${known?.json ?? ''}]}`;
    if (text.length < WORTH_IT) continue;
    await tx.run(addBody, { seq, body: zstdCompressSync(text) });
    await tx.run(clearTexts, { seq });
    if (!known) continue;
    await tx.run(removeEvents, { run_id: id });
    await appendEvents(tx, id, { firstSeq: known.last.seq, json: JSON.stringify([known.last]) });
  }
}

const unpacked = (body: Uint8Array): PackedBody => JSON.parse(zstdDecompressSync(body).toString()) as PackedBody;

async function bodyOf(db: Kysely<Tables>, seq: number): Promise<PackedBody | null> {
  const row = await db.selectFrom('run_bodies').select('body').where('seq', '=', seq).executeTakeFirst();
  return row ? unpacked(row.body) : null;
}

/** The context of a run without `raw`, from its row or packed. */
export async function contextOf(
  db: Kysely<Tables>,
  { seq, context }: Pick<Ended, 'seq' | 'context'>,
): Promise<Record<string, unknown>> {
  if (context !== PACKED) return JSON.parse(context) as Record<string, unknown>;
  return (await bodyOf(db, seq))?.context ?? {};
}

/** The delivery of a run as it came; null where none was kept. */
export async function deliveryOf(db: Kysely<Tables>, run: Ended & Pick<RunRow, 'raw_hash'>): Promise<unknown> {
  const packed = run.context === PACKED ? await bodyOf(db, run.seq) : null;
  return packed?.raw ?? readRaw(db, run);
}

/** The stored events of a run after `afterSeq`, in order. */
export async function readEvents(db: Kysely<Tables>, runId: string, afterSeq: number): Promise<RunEvent[]> {
  const rows = await db
    .selectFrom('run_events')
    .select('events')
    .where('run_id', '=', runId)
    .orderBy('first_seq')
    .execute();
  const packed = await db
    .selectFrom('run_bodies')
    .innerJoin('runs', 'runs.seq', 'run_bodies.seq')
    .select('run_bodies.body')
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  const events = [
    ...(packed ? unpacked(packed.body).events : []),
    ...rows.flatMap((row) => JSON.parse(row.events) as RunEvent[]),
  ];
  // They may have been packed between the two reads.
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  return [...bySeq.values()].filter(({ seq }) => seq > afterSeq);
}
