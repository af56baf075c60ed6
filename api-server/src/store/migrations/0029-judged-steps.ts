import type { TableWords } from './table-words.ts';

const REST = `pipeline_name, team, executor, agent, provider, model, prompt_hash, agent_version, effective_confidence`;
const EXECUTION = `completed_at IS NOT NULL AND status <> 'skipped' AND kind NOT IN ('parallel', 'fan_out')`;

/** The executions that have an outcome, so that calibration, versions and accuracy of a step look up neither marks nor steps one by one. */
export const judgedSteps = ({ integer, real, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE judged_steps (family ${text} NOT NULL, stage ${text} NOT NULL, started_at ${integer} NOT NULL,
    run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name ${text} NOT NULL, pipeline_name ${text} NOT NULL, team ${text},
    executor ${text} NOT NULL, agent ${text}, provider ${text}, model ${text}, prompt_hash ${text}, agent_version ${text},
    effective_confidence ${real}, outcome ${text} NOT NULL, PRIMARY KEY (family, stage, started_at, run_id, step_name)) ${keyed}`,
  `INSERT INTO judged_steps (family, stage, started_at, run_id, step_name, ${REST}, outcome)
    SELECT * FROM (
      SELECT family, stage, started_at, step_executions.run_id, step_executions.step_name, ${REST}, coalesce(step_feedback.outcome,
        CASE WHEN deterministic_passed = 0 THEN 'incorrect' END, run_feedback.outcome) AS outcome
      FROM step_executions
      LEFT JOIN step_feedback ON step_feedback.run_id = step_executions.run_id AND step_feedback.step_name = step_executions.step_name
      LEFT JOIN run_feedback ON run_feedback.run_id = step_executions.run_id
      WHERE ${EXECUTION} AND step_executions.run_id IN (SELECT run_id FROM run_feedback UNION ALL SELECT run_id FROM step_feedback
        UNION ALL SELECT run_id FROM step_executions WHERE deterministic_passed = 0)) AS labelled
    WHERE outcome IS NOT NULL`,
  `CREATE INDEX judged_steps_by_run ON judged_steps (run_id)`,
  `DROP INDEX step_executions_failed_checks`,
];
