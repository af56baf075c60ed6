import { type Kysely, type RawBuilder, sql } from 'kysely';
import { PACKED_TEXT, TEXTS } from '../../db/bodies/packed-body.ts';
import type { Tx } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import type { PackedRun } from './pack-runs.ts';
import { PACKED } from './run-bodies.ts';

type Db = Kysely<Tables>;

/** Keeps the bodies and empties the rows, in a few statements for all runs; answers the `seq` of those that are still there. */
export async function keepPacked({ db }: Tx, packed: readonly PackedRun[]): Promise<Set<number>> {
  if (packed.length === 0) return new Set();
  const seqs = await narrowRuns(db, packed);
  const there = packed.filter(({ seq }) => seqs.has(seq));
  if (there.length === 0) return seqs;
  const bodies = there.map(({ seq, body }) => ({ seq, body }));
  await db.insertInto('run_bodies').values(bodies).execute();
  await narrowSteps(
    db,
    there.flatMap(({ steps }) => steps.map((step, nth) => ({ ...step, nth }))),
  );
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

/** Rows of one statement. */
const MOST = 500;

async function narrowSteps(db: Db, steps: readonly (PackedRun['steps'][number] & { nth: number })[]): Promise<void> {
  const texts = TEXTS.map((column) => [
    column,
    sql`case when ${sql.ref(column)} is not null then ${sql.lit(PACKED_TEXT)} end`,
  ]);
  const { narrowed } = dialectOf(db);
  for (let at = 0; at < steps.length; at += MOST) {
    const some = steps.slice(at, at + MOST);
    const place = narrowed?.step(
      each<number>(
        'id',
        some.map(({ id, nth }) => [id, sql.lit(nth)] as const),
      ),
    );
    const ids = some.map(({ id }) => id);
    await db
      .updateTable('step_executions')
      .set({ ...Object.fromEntries(texts), ...place })
      .where('id', 'in', ids)
      .execute();
  }
  for (const { id, left } of steps)
    if (left !== null)
      await db.updateTable('step_executions').set({ raw_response: left }).where('id', '=', id).execute();
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
