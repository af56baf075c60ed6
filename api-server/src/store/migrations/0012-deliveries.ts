import type { TableWords } from './table-words.ts';

/**
 * What came in and what became of it, and the alerts that a run covers beside the one that it is about, under their dedup
 * keys. The second index finds the few deliveries without a run; those with one cost no entry in it.
 */
export const deliveries = ({ autoId, integer, text, table, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE run_alerts (pipeline_name ${text} NOT NULL, alert_key ${text} NOT NULL, run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (pipeline_name, alert_key, run_id)) ${keyed}`,
  `CREATE INDEX run_alerts_by_run ON run_alerts (run_id)`,
  `CREATE TABLE deliveries (
    id ${autoId}, received_at ${integer} NOT NULL, source ${text} NOT NULL, outcome ${text} NOT NULL, status_code ${integer} NOT NULL,
    pipeline ${text}, run_id ${text}, summary ${text}, severity ${text}, labels ${text} NOT NULL, fingerprint ${text}, detail ${text},
    token_name ${text}, team ${text}, strategy ${text}, allow_testing ${integer} NOT NULL, alerts ${text}, closest ${text}, raw ${text}, raw_truncated ${integer} NOT NULL) ${table}`,
  `CREATE INDEX deliveries_by_time ON deliveries (received_at)`,
  `CREATE INDEX deliveries_without_run ON deliveries (outcome, id) WHERE outcome NOT IN ('accepted', 'queued')`,
];
