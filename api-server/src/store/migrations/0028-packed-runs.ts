import type { TableWords } from './table-words.ts';

/**
 * The ended runs of a day that is over, with the agents and models that each had, as `aggregates/uses/packed-runs.ts` packs them. `uses` of a
 * label is the same of one run, as JSON; null until it is filled in after the day.
 */
export const packedRuns = ({ integer, text, bytes, table }: TableWords): readonly string[] => [
  `CREATE TABLE packed_runs (day ${integer} NOT NULL, part ${integer} NOT NULL, body ${bytes} NOT NULL, PRIMARY KEY (day, part)) ${table}`,
  `ALTER TABLE run_labels ADD COLUMN uses ${text}`,
  `DROP INDEX run_labels_by_time`,
  `CREATE INDEX run_labels_by_time ON run_labels (triggered_at, stage, pipeline_name, team, outcome, run_id, uses)`,
];
