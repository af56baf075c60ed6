import { type Kysely, sql } from 'kysely';
import { HEAD_BYTES, TEXTS, unpackedBytes } from '../../db/bodies/packed-body.ts';
import type { Tables } from '../../db/schema.ts';

/** Of a row beside its texts. */
const ROW_BYTES = 1024;

/** Bytes of the texts of runs with their steps and events, which no text is read for. */
export async function bytesOfRuns(db: Kysely<Tables>, ids: readonly string[]): Promise<number> {
  const texts = sql.join(
    ['summary', 'error_message', ...TEXTS].map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
    sql` + `,
  );
  const rows = await db
    .selectFrom('runs')
    .leftJoin('run_bodies', 'run_bodies.seq', 'runs.seq')
    .select([
      sql<number>`octet_length(runs.context)`.as('context'),
      sql<Uint8Array | null>`substr(run_bodies.body, 1, ${sql.lit(HEAD_BYTES)})`.as('head'),
      sql<number | null>`octet_length(run_bodies.body)`.as('packed'),
      sql<number | string | null>`(select sum(${sql.lit(ROW_BYTES)} + ${texts}) from step_executions
        where step_executions.run_id = runs.id)`.as('steps'),
      sql<number | string | null>`(select sum(octet_length(events)) from run_events
        where run_events.run_id = runs.id)`.as('events'),
    ])
    .where('runs.id', 'in', ids)
    .execute();
  return rows.reduce(
    (sum, { context, head, packed, steps, events }) =>
      sum + context + Number(steps ?? 0) + Number(events ?? 0) + (head ? unpackedBytes(head, packed ?? 0) : 0),
    0,
  );
}
