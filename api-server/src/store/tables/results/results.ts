import { type Kysely, sql } from 'kysely';
import { actionsIn, type RunResult } from '../../../runs/state/result.ts';
import type { Tables } from '../../db/schema.ts';

/** Characters of a conclusion. */
const MAX_CONCLUSION = 300;
/** A longer output is not read for its proposed action. */
const MAX_OUTPUT = 16_384;

/** The results of these runs; a run without an answer of an agent has none. */
export async function resultsOf(db: Kysely<Tables>, runIds: readonly string[]): Promise<Map<string, RunResult>> {
  if (runIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name'])
    .select([
      sql<string>`case when length(summary) > ${sql.lit(MAX_CONCLUSION)}
        then substr(summary, 1, ${sql.lit(MAX_CONCLUSION - 1)}) || '…' else summary end`.as('conclusion'),
      sql<string | null>`case when length(output) <= ${sql.lit(MAX_OUTPUT)} then output end`.as('output'),
    ])
    .where('run_id', 'in', runIds)
    .where('executor', 'in', ['gateway', 'external'])
    // A fan-out may have hundreds of branches; what it found stands in the steps after it.
    .where('kind', 'in', ['step', 'branch'])
    .where('summary', 'is not', null)
    .orderBy('step_index')
    .orderBy('completed_at')
    .execute();
  const results = new Map<string, RunResult>();
  for (const { run_id: id, step_name: stepName, conclusion, output } of rows) {
    const actions = actionsIn(JSON.parse(output ?? 'null'));
    // A step that only reports what an earlier one found does not replace its proposal.
    if (actions.length > 0 || (results.get(id)?.actions.length ?? 0) === 0)
      results.set(id, { stepName, conclusion, actions });
  }
  return results;
}
