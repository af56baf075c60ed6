import { type RawBuilder, sql } from 'kysely';
import type { Outcome } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isExecution } from '../../db/rows/executions.ts';
import type { StepRow } from '../../db/rows/step-row.ts';
import { statement } from '../../db/statement.ts';
import { addJudged, addJudgedStep, removeJudged, removeJudgedStep } from './judged-steps.ts';

/** Its end, which another process may be about to store, looks for a mark of it: only one of the two goes first. */
const holdRun = statement<{ run_id: string }>((db, slot) => {
  const run = db.selectFrom('runs').select('id').where('id', '=', slot.run_id);
  return dialectOf(db).name === 'postgres' ? run.forShare() : run;
});

const removeLabel = statement<{ run_id: string }>((db, slot) =>
  db.deleteFrom('run_labels').where('run_id', '=', slot.run_id),
);

/**
 * The outcome of the last judged execution, which is its own where the run has no mark. Only of those that began last their place among the
 * steps is looked up, after them: SQLite keeps to the order of a cross join.
 */
const ofLastExecution = (runId: string): RawBuilder<Outcome | null> => sql`(
  select judged_steps.outcome from judged_steps cross join step_executions
  where judged_steps.run_id = ${runId} and judged_steps.started_at = (select max(started_at) from judged_steps where run_id = ${runId})
    and step_executions.run_id = ${runId} and step_executions.step_name = judged_steps.step_name
  order by step_index desc, judged_steps.step_name desc limit 1)`;

const LABEL = ['run_id', 'triggered_at', 'pipeline_name', 'stage', 'team', 'outcome'] as const;

/** From its mark and its judged executions. */
export const addLabel = statement<{ run_id: string }>((db, slot) =>
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
            .select(sql<Outcome>`coalesce(run_feedback.outcome, ${ofLastExecution(slot.run_id)})`.as('outcome'))
            .where('runs.id', '=', slot.run_id)
            // With a limit SQLite computes the outcome once.
            .limit(1)
            .as('labelled'),
        )
        .select(LABEL)
        .where('outcome', 'is not', null),
    ),
);

/**
 * Writes down what a run and its executions count as in statistics, after a mark of it: a run its own mark, else the label of its last
 * labelled execution (Orchestration 3). In the transaction of that change.
 */
export async function relabel(tx: Tx, runId: string): Promise<void> {
  // Of two changes at a time the second must see the first.
  await tx.lock(`mark ${runId}`);
  const of = { run_id: runId };
  await Promise.all([
    tx.all(holdRun, of),
    tx.run(removeJudged, of),
    tx.run(addJudged, of),
    tx.run(removeLabel, of),
    tx.run(addLabel, of),
  ]);
}

type Marked = Pick<StepRow, 'id' | 'run_id' | 'step_name' | 'family' | 'stage' | 'started_at'>;

/** The same after a mark of one execution, at a cost that does not grow with those that have no outcome. */
export async function relabelStep(tx: Tx, step: Marked): Promise<void> {
  await tx.lock(`mark ${step.run_id}`);
  await Promise.all([
    tx.all(holdRun, step),
    tx.run(removeJudgedStep, step),
    tx.run(addJudgedStep, step),
    tx.run(removeLabel, step),
    tx.run(addLabel, step),
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
