import type { TableWords } from './table-words.ts';

/** The alerts that a run covers beside the one that it is about, under their dedup keys. */
export const deliveries = ({ text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE run_alerts (pipeline_name ${text} NOT NULL, alert_key ${text} NOT NULL, run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (pipeline_name, alert_key, run_id)) ${keyed}`,
  `CREATE INDEX run_alerts_by_run ON run_alerts (run_id)`,
];
