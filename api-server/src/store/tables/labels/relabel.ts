import { type RawBuilder, sql } from 'kysely';
import type { Outcome } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { StepRow } from '../../db/rows/step-row.ts';
import { statement } from '../../db/statement.ts';
import { addJudged, addJudgedStep, removeJudged } from './judged-steps.ts';

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

const LABEL = ['run_id', 'triggered_at', 'pipeline_name', 'stage', 'team', 'outcome'] as const;

const addLabel = statement<{ run_id: string }>((db, slot) =>
  db
    .insertInto('run_labels')
    .columns(LABEL)
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
        .select(LABEL)
        .where('outcome', 'is not', null),
    ),
);

/**
 * Writes down what a run and its executions count as in statistics, after a mark of it or of a step: a run its own mark, else the
 * label of its last labelled execution (Orchestration 3). In the transaction of that change.
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

type Failed = Pick<StepRow, 'id' | 'run_id' | 'step_name' | 'step_index' | 'started_at'>;

/** Unless the run has a mark, or a person marked this execution or one that began after it. */
export const addFailedLabel = statement<Failed>((db, slot) =>
  db
    .insertInto('run_labels')
    .columns(LABEL)
    .expression(
      db
        .selectFrom('runs')
        .select(['runs.id as run_id', 'triggered_at', 'pipeline_name', 'stage', 'team'])
        .select(sql.lit<Outcome>('incorrect').as('outcome'))
        .where('runs.id', '=', slot.run_id)
        .where(({ not, exists }) =>
          not(exists(db.selectFrom('run_feedback').select('outcome').where('run_id', '=', slot.run_id))),
        )
        .where(({ not, exists }) =>
          not(
            exists(
              db
                .selectFrom('step_feedback')
                // SQLite keeps to the order of a cross join: a run has few marks and maybe thousands of executions.
                .crossJoin('step_executions')
                .select('outcome')
                .whereRef('step_executions.run_id', '=', 'step_feedback.run_id')
                .whereRef('step_executions.step_name', '=', 'step_feedback.step_name')
                .where('step_feedback.run_id', '=', slot.run_id)
                .where(isExecution())
                .where(
                  sql<boolean>`(started_at, step_index, step_executions.step_name) >= (${slot.started_at}, ${slot.step_index}, ${slot.step_name})`,
                ),
            ),
          ),
        ),
    )
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ outcome: 'incorrect', uses: null })),
);

/** The same after a failed check of one execution, at a cost that does not grow with those before it. */
export async function labelFailed(tx: Tx, step: Failed): Promise<void> {
  await tx.lock(`mark ${step.run_id}`);
  await Promise.all([tx.run(addFailedLabel, step), tx.run(addJudgedStep, step)]);
}
