import { type Kysely, sql } from 'kysely';
import type { TrustReport } from '../../../runs/state/model.ts';
import { actionsIn, type RunResult } from '../../../runs/state/result.ts';
import type { Tables } from '../../db/schema.ts';

/** Characters of a conclusion. */
const MAX_CONCLUSION = 300;
/** A longer output or report is not read. */
const MAX_READ = 16_384;

const bounded = (column: 'output' | 'trust_report') =>
  sql<string | null>`case when length(${sql.ref(column)}) <= ${sql.lit(MAX_READ)} then ${sql.ref(column)} end`.as(
    column,
  );

const gateOf = (report: string | null): Pick<TrustReport, 'trust' | 'threshold'> =>
  report === null ? { trust: null, threshold: null } : (JSON.parse(report) as TrustReport);

/** The results of these runs; a run without an answer of an agent has none. */
export async function resultsOf(db: Kysely<Tables>, runIds: readonly string[]): Promise<Map<string, RunResult>> {
  if (runIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name'])
    .select([
      sql<string>`case when length(summary) > ${sql.lit(MAX_CONCLUSION)}
        then substr(summary, 1, ${sql.lit(MAX_CONCLUSION - 1)}) || '…' else summary end`.as('conclusion'),
      bounded('output'),
      bounded('trust_report'),
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
  for (const { run_id: id, step_name: stepName, conclusion, output, trust_report: report } of rows) {
    const actions = actionsIn(JSON.parse(output ?? 'null'));
    // A step that only reports what an earlier one found does not replace its proposal.
    if (actions.length > 0 || (results.get(id)?.actions.length ?? 0) === 0) {
      const { trust, threshold } = gateOf(report);
      results.set(id, { stepName, conclusion, actions, trust, threshold });
    }
  }
  return results;
}
