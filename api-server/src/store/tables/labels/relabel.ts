import { type RawBuilder, sql } from 'kysely';
import type { Outcome } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import { statement } from '../../db/statement.ts';
import { addJudged, removeJudged } from './judged-steps.ts';

/** Its end, which another process may be about to store, looks for a mark of it: only one of the two goes first. */
const holdRun = statement<{ run_id: string }>((db, slot) => {
  const run = db.selectFrom('runs').select('id').where('id', '=', slot.run_id);
  return dialectOf(db).name === 'postgres' ? run.forShare() : run;
});

const removeLabel = statement<{ run_id: string }>((db, slot) =>
  db.deleteFrom('run_labels').where('run_id', '=', slot.run_id),
);

/** The label of the run's last execution that has one of its own: a mark, else a failed check. */
const ofLastExecution = (): RawBuilder<Outcome | null> => sql`(
  select coalesce(step_feedback.outcome, 'incorrect') from step_executions
  left join step_feedback on step_feedback.run_id = step_executions.run_id and step_feedback.step_name = step_executions.step_name
  where step_executions.run_id = runs.id and ${isExecution()} and (step_feedback.outcome is not null or deterministic_passed = 0)
  order by started_at desc, step_index desc, step_executions.step_name desc limit 1)`;

const addLabel = statement<{ run_id: string }>((db, slot) =>
  db
    .insertInto('run_labels')
    .columns(['run_id', 'triggered_at', 'pipeline_name', 'stage', 'team', 'outcome'])
    .expression(
      db
        .selectFrom((from) =>
          from
            .selectFrom('runs')
            .leftJoin('run_feedback', 'run_feedback.run_id', 'runs.id')
            .select(['runs.id as run_id', 'triggered_at', 'pipeline_name', 'stage', 'team'])
            .select(sql<Outcome>`coalesce(run_feedback.outcome, ${ofLastExecution()})`.as('outcome'))
            .where('runs.id', '=', slot.run_id)
            .as('labelled'),
        )
        .select(['run_id', 'triggered_at', 'pipeline_name', 'stage', 'team', 'outcome'])
        .where('outcome', 'is not', null),
    ),
);

/**
 * Writes down what a run and its executions count as in statistics, after a mark of it or of a step, or a failed check: a run its own
 * mark, else the label of its last labelled execution (Orchestration 3). In the transaction of that change.
 */
export async function relabel(tx: Tx, runId: string): Promise<void> {
  // Of two changes at a time the second must see the first.
  await tx.lock(`mark ${runId}`);
  const of = { run_id: runId };
  await Promise.all([
    tx.all(holdRun, of),
    tx.run(removeLabel, of),
    tx.run(addLabel, of),
    tx.run(removeJudged, of),
    tx.run(addJudged, of),
  ]);
}
