import type { TableWords } from './table-words.ts';

/** The outbox: messages to send, with the place of their config and never the config itself. */
export const notifications = ({ integer, text, table }: TableWords): string[] => [
  `CREATE TABLE notifications (
    id ${text} PRIMARY KEY, run_id ${text} REFERENCES runs (id) ON DELETE CASCADE, pipeline_name ${text} NOT NULL, stage ${text} NOT NULL,
    event ${text} NOT NULL, channel ${text} NOT NULL, instead_of ${text}, source ${text} NOT NULL, message ${text} NOT NULL,
    status ${text} NOT NULL, attempts ${integer} NOT NULL, due_at ${integer} NOT NULL, created_at ${integer} NOT NULL,
    ended_at ${integer}, error ${text}, receipt ${text}) ${table}`,
  `CREATE INDEX notifications_due ON notifications (due_at) WHERE status = 'pending'`,
  `CREATE INDEX notifications_by_run ON notifications (run_id)`,
  `CREATE INDEX notifications_by_age ON notifications (created_at)`,
];
