import type { Kysely } from 'kysely';
import { isExecution } from '../../db/rows/executions.ts';
import { type JudgedStepRow, OF_EXECUTION } from '../../db/rows/judged-step-row.ts';
import type { Tables } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';
import { OUTCOME } from './outcome.ts';

const COLUMNS = [...OF_EXECUTION, 'outcome'] as const;
const SELECTED = [...OF_EXECUTION.map((name) => `step_executions.${name}` as const), OUTCOME.as('outcome')] as const;

interface OfRun {
  run_id: string;
}

export const removeJudged = statement<OfRun>((db, slot) =>
  db.deleteFrom('judged_steps').where('run_id', '=', slot.run_id),
);

const executions = (db: Kysely<Tables>) =>
  db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .select(SELECTED)
    .where(isExecution())
    .where(OUTCOME, 'is not', null);

/** Writes down the executions of a run that have an outcome. */
export const addJudged = statement<OfRun>((db, slot) =>
  db
    .insertInto('judged_steps')
    .columns(COLUMNS)
    .expression(executions(db).where('step_executions.run_id', '=', slot.run_id)),
);

type Execution = Pick<JudgedStepRow, 'family' | 'stage' | 'started_at' | 'run_id' | 'step_name'>;

export const removeJudgedStep = statement<Execution>((db, slot) =>
  db
    .deleteFrom('judged_steps')
    .where('family', '=', slot.family)
    .where('stage', '=', slot.stage)
    .where('started_at', '=', slot.started_at)
    .where('run_id', '=', slot.run_id)
    .where('step_name', '=', slot.step_name),
);

/** Writes down one execution, where it has an outcome. */
export const addJudgedStep = statement<{ id: string }>((db, slot) =>
  db
    .insertInto('judged_steps')
    .columns(COLUMNS)
    .expression(executions(db).where('step_executions.id', '=', slot.id))
    .onConflict((conflict) => conflict.doNothing()),
);

/** Those that ended after their run was marked. Most runs have no mark, and nothing else is looked at. */
export const addJudgedSince = statement<OfRun>((db, slot) =>
  db
    .insertInto('judged_steps')
    .columns(COLUMNS)
    .expression(
      db
        .selectFrom('run_feedback')
        .innerJoin('step_executions', 'step_executions.run_id', 'run_feedback.run_id')
        .leftJoin('step_feedback', (join) =>
          join
            .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
            .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
        )
        .select(SELECTED)
        .where('run_feedback.run_id', '=', slot.run_id)
        .where(isExecution()),
    )
    .onConflict((conflict) => conflict.doNothing()),
);
