import { type Kysely, sql } from 'kysely';
import type { AlikeAnswers } from '../../../analytics/replay/batch-verdict.ts';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import { OUTCOME } from '../labels/outcome.ts';

/** The answers of batches with what is said of each and of the recorded one; those that are alike are counted together. */
export async function batchAnswers(db: Kysely<Tables>, runIds: readonly string[]): Promise<AlikeAnswers[]> {
  if (runIds.length === 0) return [];
  const { fieldOf, upTo } = dialectOf(db);
  const step = sql<string>`rtrim(${upTo('answer.step_name', '/')}, '/')`;
  const recorded = sql`coalesce(sample.step_id, (select id from step_executions as one
    where one.run_id = sample.source_run_id and one.step_name = ${step}))`;
  const { rows } =
    await sql<AlikeAnswers>`select batch, step, status, passed, mark, verdict, pinned, launched, present, outcome, count(*) as n
    from (
      select answer.run_id as batch, ${step} as step, answer.status as status, answer.deterministic_passed as passed,
        marked.outcome as mark, ${fieldOf('sample.judgement', 'verdict')} as verdict, sample.pinned as pinned,
        sample.outcome as launched, case when step_executions.id is null then 0 else 1 end as present, ${OUTCOME} as outcome
      from step_executions as answer
      join replay_samples as sample
        on sample.run_id = answer.run_id and answer.step_name = ${step} || '/' || sample.position
      left join step_feedback as marked on marked.run_id = answer.run_id and marked.step_name = answer.step_name
      left join step_executions on step_executions.id = ${recorded}
      left join step_feedback on step_feedback.run_id = step_executions.run_id and step_feedback.step_name = step_executions.step_name
      left join run_feedback on run_feedback.run_id = step_executions.run_id
      where answer.run_id in (${sql.join(runIds)})
    ) as answers
    group by batch, step, status, passed, mark, verdict, pinned, launched, present, outcome`.execute(db);
  return rows;
}
