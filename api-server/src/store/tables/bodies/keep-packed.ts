import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isUnreadable, leftOf, PACKED_TEXT, TEXTS } from '../../db/bodies/packed-body.ts';
import type { Database, Tx } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { paced } from '../../db/paced.ts';
import type { Tables } from '../../db/schema.ts';
import type { PackedRun } from './pack-runs.ts';
import { marksWith, removeMark, setMark } from '../marks.ts';
import { PACKED, packedSteps } from './run-bodies.ts';
import { MOST_STEPS } from './step-counts.ts';

type Db = Kysely<Tables>;

/** Keeps the bodies and empties the rows, in a few statements for all runs; answers the `seq` of those that are still there.
 * The steps of a large run are left to `narrowLarge`. */
export async function keepPacked(tx: Tx, packed: readonly PackedRun[]): Promise<Set<number>> {
  const { db } = tx;
  if (packed.length === 0) return new Set();
  const seqs = await narrowRuns(db, packed);
  const there = packed.filter(({ seq }) => seqs.has(seq));
  if (there.length === 0) return seqs;
  const bodies = there.map(({ seq, body }) => ({ seq, body }));
  await db.insertInto('run_bodies').values(bodies).execute();
  const small = there.filter(({ steps }) => steps.length <= MOST_STEPS);
  await narrowSteps(
    db,
    small.flatMap(({ steps }) => steps),
  );
  for (const { seq, steps } of there) if (steps.length > MOST_STEPS) await setMark(tx, nameOf(seq), seq);
  await narrowEvents(db, there);
  return seqs;
}

/** One value for each of some rows. */
const each = <V>(column: string, values: readonly (readonly [key: unknown, value: V | RawBuilder<V>])[]) =>
  sql<V>`case ${sql.ref(column)} ${sql.join(
    values.map(([key, value]) => sql`when ${key} then ${value}`),
    sql` `,
  )} end`;

async function narrowRuns(db: Db, packed: readonly PackedRun[]): Promise<Set<number>> {
  const seqs = packed.map(({ seq }) => seq);
  // Bodies without the texts of steps are replaced; no row refers to a run while it is away.
  await db
    .deleteFrom('run_bodies')
    .where('seq', 'in', (some) =>
      some.selectFrom('runs').select('runs.seq').where('runs.seq', 'in', seqs).where('result', 'is', null),
    )
    .execute();
  const { narrowed } = dialectOf(db);
  const result = each<string>(
    'runs.seq',
    packed.map((run) => [run.seq, run.result] as const),
  );
  const rows = await db
    .updateTable('runs')
    .set({ context: PACKED, raw: null, result, ...narrowed?.away })
    .where('seq', 'in', seqs)
    .where('result', 'is', null)
    .returning('seq')
    .execute();
  await narrowed?.back.execute(db);
  return new Set(rows.map(({ seq }) => Math.abs(seq)));
}

const narrowed = Object.fromEntries(
  TEXTS.map((column) => [column, sql`case when ${sql.ref(column)} is not null then ${sql.lit(PACKED_TEXT)} end`]),
);

/** Their places among the rows are those in this list, after so many others of their run. */
async function narrowSteps(db: Db, steps: readonly (PackedRun['steps'][number] | null)[], after = 0): Promise<void> {
  const { listed, narrowed: moved } = dialectOf(db);
  await db
    .updateTable('step_executions')
    .from(listed(JSON.stringify(steps.map((step) => step?.id ?? ''))).as('listed'))
    .set({ ...narrowed, ...(moved?.step(sql`listed.key + ${sql.lit(after)}`) as object | undefined) })
    .whereRef('step_executions.id', '=', 'listed.value')
    .execute();
  for (const step of steps)
    if (step && step.left !== null)
      await db.updateTable('step_executions').set({ raw_response: step.left }).where('id', '=', step.id).execute();
}

/** Names the marks of runs whose steps have their texts in the body and in their rows. */
const BOTH = 'both:';
const nameOf = (seq: number): string => `${BOTH}${seq}`;

export interface NarrowDeps {
  database: Pick<Database, 'db' | 'write'>;
  log: { warn(fields: object, msg: string): void };
  signal?: AbortSignal;
}

/**
 * Empties the steps of large runs that are packed, some in a transaction. Who reads one takes its text from where it is at that moment.
 * After a process that was killed it begins anew with the run, and changes nothing twice. Where a body cannot be read, the rows keep the texts.
 */
export async function narrowLarge({ database, log, signal }: NarrowDeps): Promise<void> {
  for (const { value: seq } of await marksWith(database.db, BOTH)) {
    try {
      await narrowRun(database, seq, signal);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      await database.write((tx) => removeMark(tx, nameOf(seq)));
      log.warn({ err: error, run_seq: seq }, 'the packed texts of a run cannot be read; its steps keep theirs');
    }
    if (signal?.aborted) return;
  }
}

async function narrowRun(database: NarrowDeps['database'], seq: number, signal?: AbortSignal): Promise<void> {
  const names = await packedSteps(database.db, seq);
  let after = 0;
  await paced(
    async (most) => {
      const some = names.slice(after, after + most);
      const isLast = after + most >= names.length;
      await database.write((tx) => narrowSome(tx, seq, { names: some, after, isLast }));
      after += most;
      return !isLast;
    },
    { most: MOST_STEPS, busy: MOST_STEPS / 4 },
    signal,
  );
}

interface Piece {
  names: readonly string[];
  after: number;
  isLast: boolean;
}

async function narrowSome(tx: Tx, seq: number, { names, after, isLast }: Piece): Promise<void> {
  const { db } = tx;
  await tx.lock(nameOf(seq));
  if (isLast) await removeMark(tx, nameOf(seq));
  if (names.length === 0) return;
  const rows = await db
    .selectFrom('step_executions')
    .select(['id', 'step_name', 'raw_response'])
    .where('run_id', '=', (run) => run.selectFrom('runs').select('runs.id').where('runs.seq', '=', seq))
    .where('step_name', 'in', names)
    .execute();
  const found = new Map(rows.map((row) => [row.step_name, { id: row.id, left: leftOf(row.raw_response) }]));
  // Where one is missing the others keep their places.
  const steps = names.map((name) => found.get(name) ?? null);
  await narrowSteps(db, steps, after);
}

/** All events but the last one are in the body. */
async function narrowEvents(db: Db, packed: readonly PackedRun[]): Promise<void> {
  const lasts = packed.flatMap(({ id, last }) => (last === null ? [] : [{ id, last }]));
  if (lasts.length === 0) return;
  const upTo = each<number>(
    'run_id',
    lasts.map(({ id, last }) => [id, sql<number>`cast(${last.seq} as bigint)`] as const),
  );
  const ids = lasts.map(({ id }) => id);
  await db.deleteFrom('run_events').where('run_id', 'in', ids).where('first_seq', '<=', upTo).execute();
  const rows = lasts.map(({ id, last }) => ({ run_id: id, first_seq: last.seq, events: JSON.stringify([last]) }));
  await db.insertInto('run_events').values(rows).execute();
}
