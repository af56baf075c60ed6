import type { TableWords } from './table-words.ts';

/**
 * Sets of pinned step executions, and the replays of them. A member names its execution without a reference: it outlives
 * the row, and says so. The index of runs is what retention asks.
 */
export const goldenSets = ({ integer, real, text, table, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE golden_sets (id ${text} PRIMARY KEY, name ${text} NOT NULL UNIQUE, description ${text} NOT NULL, step_name ${text} NOT NULL,
    created_at ${integer} NOT NULL, created_by ${text} NOT NULL, archived_at ${integer}) ${keyed}`,
  `CREATE TABLE golden_members (id ${text} PRIMARY KEY, set_id ${text} NOT NULL REFERENCES golden_sets (id) ON DELETE CASCADE,
    step_id ${text} NOT NULL, run_id ${text} NOT NULL, step_name ${text} NOT NULL, outcome ${text} NOT NULL, label_source ${text} NOT NULL,
    note ${text}, pinned_at ${integer} NOT NULL, pinned_by ${text} NOT NULL, prompt_hash ${text}, agent_version ${text},
    UNIQUE (set_id, step_id)) ${table}`,
  `CREATE INDEX golden_members_by_run ON golden_members (run_id)`,
  `CREATE TABLE regressions (id ${text} PRIMARY KEY, set_id ${text} NOT NULL REFERENCES golden_sets (id) ON DELETE CASCADE,
    fire_at ${integer} NOT NULL, status ${text} NOT NULL, run_id ${text}, started_at ${integer} NOT NULL, beat_at ${integer} NOT NULL,
    completed_at ${integer}, n_members ${integer} NOT NULL, n_regressed ${integer}, n_improved ${integer}, n_graded ${integer},
    n_unreplayable ${integer}, n_divergences ${integer}, baseline_accuracy ${real}, fresh_accuracy ${real}, alert ${text}, error ${text}) ${table}`,
  `CREATE UNIQUE INDEX regressions_fire ON regressions (set_id, fire_at)`,
];
