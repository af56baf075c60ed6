import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Label } from '../analytics/calibration.ts';
import type { Outcome } from '../runs/model.ts';
import type { Tables } from './schema.ts';

export const LABEL_OF: Readonly<Record<Outcome, Label>> = { correct: 1, partial: 0.5, incorrect: 0 };

/**
 * How an execution turned out, null where nobody knows: a person's mark of the step, else a failed check, else the mark of
 * the run (Orchestration 3). For the rows of `executions`.
 */
export const OUTCOME = sql<Outcome | null>`coalesce(step_feedback.outcome,
  case when step_executions.deterministic_passed = 0 then 'incorrect' end, run_feedback.outcome)`;

/** Executions beside what people said of them; a rerun's rows that repeat an earlier result are no executions. */
export const executions = (db: Kysely<Tables>) =>
  db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .where('step_executions.status', '<>', 'skipped');

/** Marks of the step and of the branches of its fan-out, whose names stand before a slash. */
const marksOf = (stepName: string): RawBuilder<boolean> => {
  const branches = `${stepName}/`;
  return sql`(step_feedback.step_name = ${stepName} or substr(step_feedback.step_name, 1, ${sql.lit(branches.length)}) = ${branches})`;
};

/**
 * Ids of the step's executions that have an outcome. They are looked up from the marks and the failed checks, of which there
 * are few: executions that nobody judged cost nothing.
 */
export const labelledIds = (db: Kysely<Tables>, stepName: string) =>
  db
    .selectFrom('step_feedback')
    .innerJoin('step_executions', (join) =>
      join
        .onRef('step_executions.run_id', '=', 'step_feedback.run_id')
        .onRef('step_executions.step_name', '=', 'step_feedback.step_name'),
    )
    .select('step_executions.id')
    .where(marksOf(stepName))
    .union(
      db
        .selectFrom('run_feedback')
        .innerJoin('step_executions', 'step_executions.run_id', 'run_feedback.run_id')
        .select('step_executions.id')
        .where('step_executions.family', '=', stepName),
    )
    .union(
      db
        .selectFrom('step_executions')
        .select('step_executions.id')
        .where('deterministic_passed', '=', sql.lit(0))
        .where('step_executions.family', '=', stepName),
    );
