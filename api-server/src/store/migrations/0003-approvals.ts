import type { TableWords } from './table-words.ts';

/** Questions to people, with their answers. */
export const approvals = ({ integer, text, table }: TableWords): string[] => [
  `CREATE TABLE approvals (
    id ${text} PRIMARY KEY, run_id ${text} NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step_name ${text} NOT NULL, kind ${text} NOT NULL,
    pipeline_name ${text} NOT NULL, team ${text}, stage ${text} NOT NULL, question ${text} NOT NULL, fields ${text} NOT NULL, tool ${text},
    status ${text} NOT NULL, requested_at ${integer} NOT NULL, expires_at ${integer} NOT NULL,
    decided_at ${integer}, decided_by ${text}, comment ${text}, answers ${text}) ${table}`,
  `CREATE INDEX approvals_by_status ON approvals (status, requested_at)`,
  `CREATE INDEX approvals_by_time ON approvals (requested_at)`,
  `CREATE INDEX approvals_by_run ON approvals (run_id)`,
];
