import { sql } from 'kysely';
import { ACTIVE_RUN_STATUSES } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';

/** Active runs of these pipelines, without sub-runs and replays; no other transaction counts those of the namespace until this one ends. */
export async function countActive(tx: Tx, namespace: string, pipelines: readonly string[]): Promise<number> {
  if (pipelines.length === 0) return 0;
  await tx.lock(`namespace ${namespace}`);
  const { n } = await tx.db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .where('pipeline_name', 'in', pipelines)
    .where('parent_run_id', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('replays').select('replays.run_id').whereRef('replays.run_id', '=', 'runs.id'))),
    )
    .executeTakeFirstOrThrow();
  return n;
}

/** Tokens of all ended steps of these pipelines since an hour, from the hourly sums. */
export async function sumTokens(tx: Tx, pipelines: readonly string[], sinceHour: number): Promise<number> {
  if (pipelines.length === 0) return 0;
  const { tokens } = await tx.db
    .selectFrom('hourly_steps')
    .select(sql<number | null>`sum(input_tokens + output_tokens)`.as('tokens'))
    .where('hour', '>=', sinceHour)
    .where('pipeline_name', 'in', pipelines)
    .executeTakeFirstOrThrow();
  return tokens ?? 0;
}
