import { z } from 'zod';
import { component, Time } from './answer.ts';

const ScheduleLine = z.strictObject({
  pipeline: z.string(),
  cron: z.string(),
  timezone: z.string(),
  /** Null while the pipeline is suspended. */
  next_run: Time.nullable(),
  suspended: z.boolean(),
  /** Times of the last 30 days at which the service was not running and started nothing. */
  missed: z.number(),
  last_missed_at: Time.nullable(),
});
export type ScheduleLine = z.infer<typeof ScheduleLine>;

/** Pipelines that run by the clock (Orchestration 4.2). */
export const ScheduleList = component('ScheduleList', z.strictObject({ schedules: z.array(ScheduleLine) }), {
  schedules: [
    {
      pipeline: 'morning-sweep',
      cron: '0 6 * * 1-5',
      timezone: 'Etc/UTC',
      next_run: '2026-11-03T06:00:00.000Z',
      suspended: false,
      missed: 0,
      last_missed_at: null,
    },
  ],
});
