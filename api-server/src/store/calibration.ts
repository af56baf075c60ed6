import { sql, type Kysely } from 'kysely';
import { binOf } from '../runs/calibrated-means.ts';
import type { CalibrationQuery } from '../runs/evidence.ts';
import type { Tables } from './schema.ts';

export interface CalibrationRule {
  /** Marked outcomes that a bin needs before it says anything. */
  nMin: number;
  /** Divides 1 evenly. */
  binWidth: number;
}

/**
 * The share of correct answers among marked production executions of the same bucket and confidence bin; null with fewer
 * than `nMin`. A step's own mark counts first, then a failed check, then its run's mark (Orchestration 3).
 */
export async function calibratedMean(
  db: Kysely<Tables>,
  query: CalibrationQuery,
  { nMin, binWidth }: CalibrationRule,
): Promise<number | null> {
  const { bin, bins } = binOf(query.confidence, binWidth);
  const last = bin === bins - 1;
  const outcome = sql<string | null>`coalesce(step_feedback.outcome,
    case when step_executions.deterministic_passed = 0 then 'incorrect' end, run_feedback.outcome)`;
  const same = (column: 'agent' | 'provider' | 'model' | 'prompt_hash' | 'agent_version', value: string | null) =>
    value === null
      ? sql<boolean>`${sql.ref(`step_executions.${column}`)} is null`
      : sql<boolean>`${sql.ref(`step_executions.${column}`)} = ${value}`;
  const row = await db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .select((value) => [
      value.fn.count<number>(outcome).as('n'),
      sql<
        number | null
      >`avg(case ${outcome} when 'correct' then 1.0 when 'partial' then 0.5 when 'incorrect' then 0.0 end)`.as('mean'),
    ])
    .where('step_executions.stage', '=', 'production')
    .where('step_executions.status', '<>', 'skipped')
    .where((where) =>
      where.or([
        where('step_executions.step_name', '=', query.stepName),
        sql<boolean>`substr(step_executions.step_name, 1, ${query.stepName.length + 1}) = ${`${query.stepName}/`}`,
      ]),
    )
    .where(same('agent', query.agent))
    .where(same('provider', query.provider))
    .where(same('model', query.model))
    .where(same('prompt_hash', query.promptHash))
    .where(same('agent_version', query.agentVersion))
    .where('step_executions.effective_confidence', '>=', bin / bins - 1e-9)
    .where('step_executions.effective_confidence', last ? '<=' : '<', last ? 1 : (bin + 1) / bins - 1e-9)
    .executeTakeFirstOrThrow();
  const n = row.n;
  return n >= nMin && row.mean !== null ? row.mean : null;
}
