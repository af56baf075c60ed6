import type { TableWords } from './table-words.ts';

/**
 * Batches of replays, each held by a run: what is replayed (`descriptor`, JSON) and its samples. `launch_key` is the
 * caller's idempotency key and `launch_hash` what was asked for under it. `judgement` is JSON. A sample outlives the execution that it was recorded from.
 */
export const replay = ({ integer, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE replays (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, kind ${text} NOT NULL, step_name ${text} NOT NULL,
    descriptor ${text} NOT NULL, launch_key ${text}, launch_hash ${text}) ${keyed}`,
  `CREATE UNIQUE INDEX replays_by_launch_key ON replays (launch_key) WHERE launch_key IS NOT NULL`,
  `CREATE INDEX replays_by_step ON replays (step_name)`,
  `CREATE TABLE replay_samples (run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position ${integer} NOT NULL,
    step_id ${text}, source_run_id ${text}, outcome ${text}, label_source ${text}, pinned ${integer} NOT NULL, reason ${text}, judgement ${text},
    PRIMARY KEY (run_id, position)) ${keyed}`,
];
