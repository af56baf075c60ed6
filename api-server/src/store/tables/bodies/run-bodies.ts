import { type Kysely, sql } from 'kysely';
import { MAX_EVENT_CHARS } from '../../../runs/state/events.ts';
import type { RunEvent } from '../../../runs/state/model.ts';
import {
  filled,
  hasPacked,
  headOf,
  type PackedBody,
  type TextColumn,
  TEXTS,
  unpack,
  unpackTexts,
} from '../../db/bodies/packed-body.ts';
import { firstWithin } from '../../db/first-within.ts';
import type { StepRow } from '../../db/rows/step-row.ts';
import type { RunRow, Tables } from '../../db/schema.ts';
import { readRaw } from '../raw-bodies.ts';

/** In place of a context that was packed; it is JSON, too, for a query that looks into it at that moment. */
export const PACKED = '{}';

/** Packed bodies that are read at a time. */
const AT_ONCE = 8;

/** The bodies of those of the runs that have one, as they are stored. */
const bodiesOf = (db: Kysely<Tables>, runIds: readonly string[]) =>
  db
    .selectFrom('run_bodies')
    .innerJoin('runs', 'runs.seq', 'run_bodies.seq')
    .select(['runs.id', 'run_bodies.body'])
    .where('runs.id', 'in', runIds)
    .execute();

type Texts = Pick<StepRow, 'run_id' | 'step_name'> & Partial<Pick<StepRow, TextColumn>>;

/**
 * Rows of steps with the texts that were packed in their place again: whoever reads one of `TEXTS` reads it through this.
 * Of each run only the texts that the rows have are kept, up to `most` bytes of each.
 */
export async function withTexts<Row extends Texts>(
  db: Kysely<Tables>,
  rows: readonly Row[],
  most?: number,
): Promise<Row[]> {
  const packed = Map.groupBy(rows.filter(hasPacked), (row) => row.run_id);
  const runs = [...packed.keys()];
  const columns = TEXTS.filter((column) => rows.some((row) => column in row));
  const texts = new Map<string, Pick<PackedBody, 'texts'>>();
  for (let at = 0; at < runs.length; at += AT_ONCE)
    for (const { id, body } of await bodiesOf(db, runs.slice(at, at + AT_ONCE)))
      texts.set(id, { texts: unpackTexts(body, columns, { steps: stepsOf(packed.get(id) ?? []), most }) });
  return rows.map((row) => filled(row, row.step_name, texts.get(row.run_id)));
}

const stepsOf = (rows: readonly Texts[]): Set<string> => new Set(rows.map((row) => row.step_name));

type Stored = Pick<RunRow, 'context'> & { seq: number };

async function headIn(
  db: Kysely<Tables>,
  { seq, context }: Stored,
): Promise<Pick<PackedBody, 'context' | 'raw'> | null> {
  if (context !== PACKED) return null;
  const row = await db.selectFrom('run_bodies').select('body').where('seq', '=', seq).executeTakeFirst();
  return row ? (JSON.parse(headOf(row.body)) as Pick<PackedBody, 'context' | 'raw'>) : null;
}

/** The names of the steps that a body has texts of, each once; none where there is no body. */
export async function packedSteps(db: Kysely<Tables>, seq: number): Promise<string[]> {
  const row = await db.selectFrom('run_bodies').select('body').where('seq', '=', seq).executeTakeFirst();
  return row ? [...unpackTexts(row.body, TEXTS, { most: 0 }).keys()] : [];
}

/** The context of a run without `raw`, from its row or packed. */
export async function contextOf(db: Kysely<Tables>, run: Stored): Promise<Record<string, unknown>> {
  return (await headIn(db, run))?.context ?? (JSON.parse(run.context) as Record<string, unknown>);
}

/** The delivery of a run as it came; null where none was kept. */
export async function deliveryOf(db: Kysely<Tables>, run: Stored & Pick<RunRow, 'raw' | 'raw_hash'>): Promise<unknown> {
  return (await headIn(db, run))?.raw ?? readRaw(db, run);
}

/** The same by the id of the run. */
export async function deliveryOfRun(db: Kysely<Tables>, id: string): Promise<unknown> {
  const run = await db
    .selectFrom('runs')
    .select(['seq', 'context', 'raw', 'raw_hash'])
    .where('id', '=', id)
    .executeTakeFirst();
  return run ? deliveryOf(db, run) : null;
}

/** The stored events of a run after `afterSeq`, in order. */
export async function readEvents(db: Kysely<Tables>, runId: string, afterSeq: number): Promise<RunEvent[]> {
  const rows = await db
    .selectFrom('run_events')
    .select('events')
    .where('run_id', '=', runId)
    .orderBy('first_seq')
    .execute();
  const packed = (await bodiesOf(db, [runId])).flatMap(({ body }) => unpack(body).events);
  const events = [...packed, ...rows.flatMap((row) => JSON.parse(row.events) as RunEvent[])];
  // They may have been packed between the two reads.
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  return [...bySeq.values()].filter(({ seq }) => seq > afterSeq);
}

const eventBytes = sql<number | string>`octet_length(events)`;

/** Characters of events and warnings that a log keeps, each of up to three bytes. */
const MOST_CHARS = 2 * MAX_EVENT_CHARS;

/** Of a run that has not ended, the last stored events, as many as a log keeps of them and of warnings. */
export async function readLastEvents(db: Kysely<Tables>, runId: string): Promise<RunEvent[]> {
  const ofRun = db.selectFrom('run_events').where('run_id', '=', runId);
  const sizes = await ofRun
    .select(['first_seq', eventBytes.as('bytes')])
    .orderBy('first_seq', 'desc')
    .execute();
  const inBytes = firstWithin(sizes, ({ bytes }) => Number(bytes), { most: 3 * MOST_CHARS, least: 1 });
  const first = inBytes.at(-1)?.first_seq ?? 0;
  const rows = await ofRun.select('events').where('first_seq', '>=', first).orderBy('first_seq', 'desc').execute();
  const last = firstWithin(rows, ({ events }) => events.length, { most: MOST_CHARS, least: 1 });
  return last.toReversed().flatMap(({ events }) => JSON.parse(events) as RunEvent[]);
}
