import { sql, type Kysely } from 'kysely';
import type { Outcome } from '../../../runs/state/model.ts';
import type { Tables } from '../../db/schema.ts';

/**
 * The outcome of an execution, null where it is unknown: a person's mark of the step, else a failed check, else the mark of
 * the run (Orchestration 3). For the rows of `labelledRows`.
 */
export const OUTCOME = sql<Outcome | null>`coalesce(step_feedback.outcome,
  case when step_executions.deterministic_passed = 0 then 'incorrect' end, run_feedback.outcome)`;

/** Where the outcome of an execution comes from: its own mark, a failed check, the mark of its run (Orchestration 3). */
export const LABEL_SOURCES = ['human', 'deterministic', 'run'] as const;
export type LabelSource = (typeof LABEL_SOURCES)[number];

/** For the rows of `labelledRows`; null where there is no outcome. */
export const LABEL_SOURCE = sql<LabelSource | null>`case when step_feedback.outcome is not null then 'human'
  when step_executions.deterministic_passed = 0 then 'deterministic' when run_feedback.outcome is not null then 'run' end`;

/** The step and the branches of its fan-out, whose names stand before a slash; decided from the name, which indexes contain. */
const ofStep = (column: 'step_feedback.step_name' | 'step_executions.step_name', stepName: string) => {
  const branches = `${stepName}/`;
  return sql<boolean>`(${sql.ref(column)} = ${stepName} or substr(${sql.ref(column)}, 1, ${sql.lit(branches.length)}) = ${branches})`;
};

/** Names of the step's executions that have a mark, of their own or of their run, or a failed check; read from indexes only. */
function judged(db: Kysely<Tables>, stepName: string) {
  const marked = db
    .selectFrom('step_feedback')
    .select(['step_feedback.run_id', 'step_feedback.step_name'])
    .where(ofStep('step_feedback.step_name', stepName));
  const ofMarkedRuns = db
    .selectFrom('run_feedback')
    .crossJoin('step_executions')
    .select(['step_executions.run_id', 'step_executions.step_name'])
    .whereRef('step_executions.run_id', '=', 'run_feedback.run_id')
    .where(ofStep('step_executions.step_name', stepName));
  const failed = db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name'])
    .where('deterministic_passed', '=', sql.lit(0))
    .where('family', '=', stepName);
  return marked.union(ofMarkedRuns).union(failed).as('judged');
}

/**
 * The step's executions that have an outcome, beside what people said of them. They are looked up from marks and failed
 * checks, of which there are few (SQLite walks the tables of a cross join in their order), so that executions without a
 * judgement cost nothing. A rerun's rows that repeat an earlier result are no executions.
 */
export const labelledRows = (db: Kysely<Tables>, stepName: string) =>
  db
    .selectFrom(judged(db, stepName))
    .crossJoin('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .whereRef('step_executions.run_id', '=', 'judged.run_id')
    .whereRef('step_executions.step_name', '=', 'judged.step_name')
    .where('step_executions.status', '<>', 'skipped');
