import type { ListedSchedule } from '../../schedules/scheduler.ts';
import type { Database } from '../../store/db/database.ts';
import { missedFires } from '../../store/tables/schedules.ts';
import { iso } from '../views/answer.ts';
import type { ScheduleLine } from '../views/schedule.ts';

export interface SchedulesDeps {
  database: Pick<Database, 'db'>;
  /** Schedules of the loaded pipelines. */
  listSchedules(): ListedSchedule[];
}

/** Schedules with what was missed of them (Orchestration 4.2). */
export const createSchedules =
  ({ database, listSchedules }: SchedulesDeps) =>
  async (): Promise<ScheduleLine[]> => {
    const missed = new Map((await missedFires(database.db)).map((one) => [one.pipeline, one]));
    return listSchedules().map((schedule) => {
      const known = missed.get(schedule.pipeline);
      return { ...schedule, missed: known?.count ?? 0, last_missed_at: known ? iso(known.lastAt) : null };
    });
  };
