import { createRest } from '@signalbox/crds/process/rest';
import { type Kysely, sql } from 'kysely';
import { camelCase } from '../../../runs/state/key-case.ts';
import type { RunEvent } from '../../../runs/state/model.ts';
import { headOf, isUnreadable, leftOf, pack, type StepText, TEXTS } from '../../db/bodies/packed-body.ts';
import type { StepRow } from '../../db/rows/step-row.ts';
import type { RunRow, Tables } from '../../db/schema.ts';
import type { ReadDeclared } from '../results/declared.ts';
import { resultsToKeep } from '../results/results.ts';

/** Characters of the texts of a run's steps; more of them would hold the event loop and stay where they are. */
const MAX_TEXTS = 4 * 1024 * 1024;

export interface EndedRun extends Pick<RunRow, 'id' | 'context' | 'raw' | 'definition_hash'> {
  seq: number;
}

/** What is written of a run in one transaction. */
export interface PackedRun {
  id: string;
  seq: number;
  body: Uint8Array;
  result: string;
  /** Ids of its steps, with what stays of an answer where that is not nothing. */
  steps: { id: string; left: string | null }[];
  /** The last of the packed events; null where there were none, or all were packed before. */
  last: RunEvent | null;
}

export interface PackContext {
  readDeclared: ReadDeclared;
  log: { warn(fields: object, msg: string): void };
}

/**
 * Compresses what is large of runs that have ended, which nobody changes any more; only reads. One that cannot be read stays as it
 * is and is named in the log: it holds up no other.
 */
export async function packRuns(
  db: Kysely<Tables>,
  ended: readonly EndedRun[],
  context: PackContext,
): Promise<PackedRun[]> {
  if (ended.length === 0) return [];
  try {
    return await packAll(db, ended, context);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (ended.length > 1) {
      const packed: PackedRun[] = [];
      for (const run of ended) packed.push(...(await packRuns(db, [run], context)));
      return packed;
    }
    context.log.warn(
      { err: error, run_id: ended[0]?.id },
      'a stored text of a run cannot be read; the run is not packed',
    );
    return [];
  }
}

async function packAll(
  db: Kysely<Tables>,
  ended: readonly EndedRun[],
  { readDeclared }: PackContext,
): Promise<PackedRun[]> {
  const ids = ended.map(({ id }) => id);
  const results = await resultsToKeep(db, ended.map(camelCase), readDeclared);
  const heads = await headsOf(db, ended);
  const sizes = await sizesOf(db, ids);
  const packed: PackedRun[] = [];
  for (const { id, seq } of ended) {
    const { json, last } = heads.get(seq) ?? { json: '{}', last: null };
    const rows = (sizes.get(id) ?? 0) > MAX_TEXTS ? [] : await stepsOf(db, id);
    packed.push({
      id,
      seq,
      body: await pack(json, rows.flatMap(textsOf)),
      result: JSON.stringify(results.get(id) ?? null),
      steps: rows.map((row) => ({ id: row.id, left: leftOf(row.raw_response) })),
      last,
    });
  }
  return packed;
}

/** Steps that are read at a time. */
const PAGE = 500;

async function stepsOf(db: Kysely<Tables>, runId: string) {
  const rest = createRest();
  const page = (after: string) =>
    db
      .selectFrom('step_executions')
      .select(['id', 'step_name', 'step_index', ...TEXTS])
      .where('run_id', '=', runId)
      .where('completed_at', 'is not', null)
      .where('step_name', '>', after)
      .orderBy('step_name')
      .limit(PAGE)
      .execute();
  const rows: Awaited<ReturnType<typeof page>> = [];
  for (let full = true; full;) {
    const more = await page(rows.at(-1)?.step_name ?? '');
    rows.push(...more);
    full = more.length === PAGE;
    await rest();
  }
  return rows.sort((one, other) => one.step_index - other.step_index);
}

type Texts = Pick<StepRow, 'step_name' | (typeof TEXTS)[number]>;

const textsOf = (row: Texts): StepText[] =>
  TEXTS.flatMap((column) => {
    const json = row[column];
    return json === null ? [] : [{ step: row.step_name, column, json }];
  });

async function sizesOf(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, number>> {
  const size = sql.join(
    TEXTS.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
    sql` + `,
  );
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', sql<number | string>`sum(${size})`.as('size')])
    .where('run_id', 'in', ids)
    .groupBy('run_id')
    .execute();
  return new Map(rows.map(({ run_id: id, size: bytes }) => [id, Number(bytes)]));
}

interface Head {
  json: string;
  last: RunEvent | null;
}

/** All but the texts of steps, by `seq`: a run whose other texts were packed before keeps them as they are. */
async function headsOf(db: Kysely<Tables>, ended: readonly EndedRun[]): Promise<Map<number, Head>> {
  const seqs = ended.map(({ seq }) => seq);
  const known = await db.selectFrom('run_bodies').selectAll().where('seq', 'in', seqs).execute();
  const heads = new Map<number, Head>(known.map(({ seq, body }) => [seq, { json: headOf(body), last: null }]));
  const others = ended.filter(({ seq }) => !heads.has(seq));
  const events = await eventsOf(
    db,
    others.map(({ id }) => id),
  );
  for (const { id, seq, context, raw } of others) {
    const { json, last } = events.get(id) ?? { json: '', last: null };
    heads.set(seq, { json: `{"context":${context},"raw":${raw ?? 'null'},"events":[${json}]}`, last });
  }
  return heads;
}

/** The stored events of some runs: `json` of all but the last, which stays, because a message that is sent later adds its line after it. */
async function eventsOf(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Head>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('run_events')
    .select(['run_id', 'events'])
    .where('run_id', 'in', ids)
    .orderBy('run_id')
    .orderBy('first_seq')
    .execute();
  const found = new Map<string, Head>();
  for (const [id, of] of Map.groupBy(rows, (row) => row.run_id)) {
    const end = JSON.parse(of.at(-1)?.events ?? '[]') as RunEvent[];
    const last = end.pop() ?? null;
    // An array loses its brackets to join the others.
    const texts = [...of.slice(0, -1).map(({ events }) => events), JSON.stringify(end)].map((text) =>
      text.slice(1, -1),
    );
    found.set(id, { json: texts.filter((text) => text !== '').join(','), last });
  }
  return found;
}
