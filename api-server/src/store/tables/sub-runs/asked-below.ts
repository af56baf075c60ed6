import type { Kysely } from 'kysely';
import type { StepExecution } from '../../../runs/state/model.ts';
import { toStep } from '../../db/rows/step-row.ts';
import type { Tables } from '../../db/schema.ts';
import { withTexts } from '../bodies/run-bodies.ts';

/** Executors of steps that ask people, or in which people may be asked. */
const ASKING = ['human', 'pipeline', 'parallel', 'fan_out'] as const;

/** By the ids of sub-runs that these steps started, and of theirs: their steps that may have asked people, or stopped the sub-run. */
export async function askedBelow(
  db: Kysely<Tables>,
  steps: readonly Pick<StepExecution, 'rawResponse'>[],
): Promise<Map<string, StepExecution[]>> {
  const runs = steps.flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []);
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .selectAll()
    .where('run_id', 'in', runs)
    .where((is) => is.or([is('executor', 'in', ASKING), is('status', '=', 'stopped')]))
    .execute();
  const found = (await withTexts(db, rows)).map(toStep);
  const byRun = Map.groupBy(found, ({ runId }) => runId);
  return new Map([...byRun, ...(await askedBelow(db, found))]);
}
