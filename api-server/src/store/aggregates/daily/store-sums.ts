import { type Kysely, sql } from 'kysely';
import type { Window } from '../../../analytics/window.ts';
import type { Database } from '../../db/database.ts';
import { KEYED, SUMMED } from '../../db/hourly-sums.ts';
import type { Tables } from '../../db/schema.ts';
import { columns, type Statement, statement } from '../../db/statement.ts';
import { all, within } from '../scope.ts';

/** What the sums of a day or a week are told apart by. */
export const RUN_NAMES = KEYED.hourly_runs.filter((name) => name !== 'hour');
export const STEP_NAMES = KEYED.hourly_steps.filter((name) => name !== 'hour');
export const USE_NAMES = ['pipeline_name', 'stage', 'team', 'cost_source'] as const;

/** Rows that one transaction writes. */
const BATCH = 100;

/** Puts in a row of a day or a week; one that is there is the same, from before a process ended. */
export const inserts = (table: keyof Tables, names: readonly string[]): Statement<object, unknown> =>
  statement<object>((db, slot) =>
    db
      .insertInto(table)
      .values(columns(slot, names as never) as never)
      .onConflict((conflict) => conflict.doNothing()),
  );

/** In small transactions. */
export async function insertAll(
  database: Pick<Database, 'write'>,
  insert: Statement<object, unknown>,
  rows: readonly object[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += BATCH)
    await database.write(async (tx) => {
      await Promise.all(rows.slice(at, at + BATCH).map(async (row) => tx.run(insert, row)));
    });
}

interface Summed {
  from: keyof Tables;
  /** Whose columns are added up. */
  of: keyof typeof SUMMED;
  /** The column of the time, and which times. */
  time: 'hour' | 'day';
  window: Window;
  /** Names to group by. */
  keys: readonly string[];
}

export async function summed(db: Kysely<Tables>, { from, of, time, window, keys }: Summed): Promise<object[]> {
  const names = sql.join(keys.map((key) => sql.ref(key)));
  const sums = sql.join(SUMMED[of].map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`));
  const { rows } = await sql<object>`select ${names}, ${sums} from ${sql.table(from)}
    where ${all(within(time, window))} group by ${names}`.execute(db);
  return rows;
}
