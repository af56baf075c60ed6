import type { TableWords } from './table-words.ts';

/** From when a message that is sent again may be tried, and the few that were given up. */
export const escalations = ({ integer }: TableWords): readonly string[] => [
  `ALTER TABLE notifications ADD COLUMN tried_from ${integer}`,
  `CREATE INDEX notifications_failed ON notifications (created_at) WHERE status = 'failed'`,
];
