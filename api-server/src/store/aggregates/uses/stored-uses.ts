import type { Kysely } from 'kysely';
import { isWork } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { portionsOf } from '../../tables/bodies/step-counts.ts';
import { type Use, useOf } from './packed-runs.ts';

/** Runs that are looked at together. */
const SLICE = 200;
/** Executions of a read. A run may have more. */
const MOST_STEPS = 5_000;

/** Runs with what their executions used, without repetitions; some of them at a time. */
export async function* withUses<Run extends { id: string }>(
  db: Kysely<Tables>,
  runs: readonly Run[],
): AsyncGenerator<(Run & { uses: Use[] })[]> {
  for (let at = 0; at < runs.length; at += SLICE)
    for (const some of await portionsOf(db, runs.slice(at, at + SLICE), MOST_STEPS)) {
      const ids = some.map(({ id }) => id);
      const uses = await usesOf(db, ids);
      yield some.map((run) => ({ ...run, uses: uses.get(run.id) ?? [] }));
    }
}

async function usesOf(db: Kysely<Tables>, runs: readonly string[]): Promise<Map<string, Use[]>> {
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
