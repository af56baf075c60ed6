import type { TableWords } from './table-words.ts';

/**
 * Who works on a run, for databases that several processes share. `owner` is the epoch of a replica and null for a run that
 * nobody has, and always null in the embedded database. A place in a lane counts while its run is live.
 */
export const replicas = ({ autoId, integer, text, table, keyed }: TableWords): readonly string[] => [
  `ALTER TABLE runs ADD COLUMN owner ${integer}`,
  `CREATE TABLE replicas (epoch ${autoId}, name ${text} NOT NULL, expires_at ${integer} NOT NULL) ${table}`,
  `CREATE TABLE cancellations (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, asked_by ${text} NOT NULL) ${keyed}`,
  `CREATE TABLE lane_places (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, lane ${text} NOT NULL, places ${integer} NOT NULL,
    entered ${integer} NOT NULL) ${keyed}`,
  `CREATE TABLE artifacts (run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name ${text} NOT NULL, name ${text} NOT NULL,
    body ${text} NOT NULL, kept_at ${integer} NOT NULL, PRIMARY KEY (run_id, step_name, name)) ${table}`,
  `CREATE INDEX artifacts_by_age ON artifacts (kept_at)`,
  `CREATE INDEX lane_places_by_lane ON lane_places (lane)`,
];
