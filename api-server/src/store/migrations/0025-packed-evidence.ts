import type { TableWords } from './table-words.ts';

/**
 * What readiness asks of the executions of a day that is over, by pipeline and stage, compressed, in parts of some runs. Marks are
 * not in it: `marked_runs` has the runs of a pipeline in which something was ever marked.
 */
export const packedEvidence = ({ integer, text, bytes, table }: TableWords): readonly string[] => [
  `CREATE TABLE packed_evidence (pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, day ${integer} NOT NULL, part ${integer} NOT NULL,
    body ${bytes} NOT NULL, PRIMARY KEY (pipeline_name, stage, day, part)) ${table}`,
  `CREATE TABLE marked_runs (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, seq ${integer} NOT NULL,
    pipeline_name ${text} NOT NULL, stage ${text} NOT NULL, triggered_at ${integer} NOT NULL) ${table}`,
  `INSERT INTO marked_runs (run_id, seq, pipeline_name, stage, triggered_at)
    SELECT id, seq, pipeline_name, stage, triggered_at FROM runs
    WHERE id IN (SELECT run_id FROM run_feedback UNION SELECT run_id FROM step_feedback)`,
  `CREATE INDEX marked_runs_by_pipeline ON marked_runs (pipeline_name, stage, triggered_at, seq, run_id)`,
];
