import { type Kysely, sql } from 'kysely';
import { DAY_MS } from '../../../analytics/window.ts';
import type { Database } from '../../db/database.ts';
import { isExecution, notReplayed } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { columns, statement } from '../../db/statement.ts';
import { setMark } from '../../tables/marks.ts';
import { nextClosedDay } from './closed-days.ts';

/** The name of the number that says before which day the uses of prompts are counted. */
export const PROMPTS_COUNTED = 'daily_prompts';

interface CountDeps {
  database: Pick<Database, 'reader' | 'write'>;
  signal: AbortSignal;
}

/** Counts which prompts the steps of closed days used. Answers how many days; where a process ends in the middle, the next call does the day again. */
export async function countPrompts({ database, signal }: CountDeps): Promise<number> {
  for (let counted = 0; ; counted += 1) {
    const db = database.reader(signal);
    const day = signal.aborted ? null : await nextClosedDay(db, PROMPTS_COUNTED, 'hourly_steps');
    if (day === null) return counted;
    const uses = await usesOf(db, day);
    await database.write(async (tx) => {
      await Promise.all(uses.map(async (use) => tx.run(insertUse, use)));
      await setMark(tx, PROMPTS_COUNTED, day + DAY_MS);
    });
  }
}

type Use = Tables['daily_prompts'];

/** One that is there is the same, from before a process ended. */
const insertUse = statement<Use>((db, slot) =>
  db
    .insertInto('daily_prompts')
    .values(
      columns(slot, ['step_name', 'day', 'pipeline_name', 'prompt_hash', 'executions', 'first_at', 'last_at'] as const),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

async function usesOf(db: Kysely<Tables>, day: number): Promise<Use[]> {
  const { rows } = await sql<Omit<Use, 'day'>>`
    select family as step_name, pipeline_name, prompt_hash, count(*) as executions, min(started_at) as first_at, max(started_at) as last_at
    from (select distinct step_name as name, stage from hourly_steps where hour >= ${day} and hour < ${day + DAY_MS}) as seen
    join step_executions on family = seen.name and step_executions.stage = seen.stage
    where ${isExecution()} and ${notReplayed()} and prompt_hash is not null and started_at >= ${day} and started_at < ${day + DAY_MS}
    group by family, pipeline_name, prompt_hash`.execute(db);
  return rows.map((row) => ({ ...row, day }));
}
