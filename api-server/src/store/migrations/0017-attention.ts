import type { TableWords } from './table-words.ts';

/** Who looks at the runs that ended without a result; runs that ended before have no row, so nothing old is open. */
export const attention = ({ integer, text, table }: TableWords): readonly string[] => [
  `CREATE TABLE attention (run_id ${text} PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, state ${text} NOT NULL, team ${text},
    opened_at ${integer} NOT NULL, assignee ${text}, note ${text}, acknowledged_at ${integer}, acknowledged_by ${text},
    resolved_at ${integer}, resolved_by ${text}, resolution ${text}) ${table}`,
  `CREATE INDEX attention_by_state ON attention (state, opened_at)`,
];
