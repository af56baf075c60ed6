import type { Kysely } from 'kysely';
import { isWork } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { type Use, useOf } from './packed-runs.ts';

/** What the executions of some runs used, without repetitions; runs without one are missing. */
export async function usesOf(db: Kysely<Tables>, runs: readonly string[]): Promise<Map<string, Use[]>> {
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', 'agent', 'model'])
    .distinct()
    .where('run_id', 'in', runs)
    .where(isWork())
    .execute();
  const byRun = Map.groupBy(rows, ({ run_id: id }) => id);
  return new Map([...byRun].map(([id, own]) => [id, own.map(({ agent, model }) => useOf(agent, model))]));
}
