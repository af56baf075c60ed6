import type { TableWords } from './table-words.ts';

/** From when a message that is sent again may be tried, the few that were given up, and the fires of schedules that were missed. */
export const escalations = ({ integer }: TableWords): readonly string[] => [
  `ALTER TABLE notifications ADD COLUMN tried_from ${integer}`,
  `ALTER TABLE schedule_fires ADD COLUMN missed_at ${integer}`,
  `CREATE INDEX schedule_fires_missed ON schedule_fires (pipeline_name, fire_at) WHERE missed_at IS NOT NULL`,
  `CREATE INDEX notifications_failed ON notifications (created_at) WHERE status = 'failed'`,
];
