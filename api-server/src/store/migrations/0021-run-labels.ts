import type { TableWords } from './table-words.ts';

const EXECUTION = `completed_at IS NOT NULL AND status <> 'skipped' AND kind NOT IN ('parallel', 'fan_out')`;

/** What each judged run counts as, so that accuracy over a time reads neither runs nor steps. */
export const runLabels = ({ integer, text, table }: TableWords): readonly string[] => [
  `CREATE TABLE run_labels (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, triggered_at ${integer} NOT NULL,
    pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, team ${text}, outcome ${text} NOT NULL) ${table}`,
  `INSERT INTO run_labels (run_id, triggered_at, pipeline_name, stage, team, outcome)
    SELECT run_id, triggered_at, pipeline_name, stage, team, outcome FROM (
      SELECT runs.id AS run_id, triggered_at, pipeline_name, stage, team, coalesce(run_feedback.outcome, (
        SELECT coalesce(step_feedback.outcome, 'incorrect') FROM step_executions
        LEFT JOIN step_feedback ON step_feedback.run_id = step_executions.run_id AND step_feedback.step_name = step_executions.step_name
        WHERE step_executions.run_id = runs.id AND ${EXECUTION} AND (step_feedback.outcome IS NOT NULL OR deterministic_passed = 0)
        ORDER BY started_at DESC, step_index DESC, step_executions.step_name DESC LIMIT 1)) AS outcome
      FROM (SELECT run_id FROM run_feedback UNION SELECT run_id FROM step_feedback
        UNION SELECT run_id FROM step_executions WHERE deterministic_passed = 0) AS judged
      CROSS JOIN runs LEFT JOIN run_feedback ON run_feedback.run_id = runs.id WHERE runs.id = judged.run_id) AS labelled
    WHERE outcome IS NOT NULL`,
  `CREATE INDEX run_labels_by_time ON run_labels (triggered_at, stage, pipeline_name, team, outcome, run_id)`,
];
