import { duration, exactTime } from '../format.ts';
import type { ScheduleLine } from '../../../service/views/schedule.ts';
import type { NewestRun } from '../../../service/views/run.ts';
import { paths } from '../paths.ts';
import { portionOf } from '../portion.ts';
import { plural } from '../runs/row.ts';
import { statusLook } from '../status.ts';
import { cronWords } from './cron-words.ts';

/** The time until then, in at most two units: `in 3 h 20 m`, `in 2 d 4 h`. */
function until(iso: string, now: number): string {
  const seconds = Math.max(0, (Date.parse(iso) - now) / 1000);
  return seconds < 1 ? 'now' : `in ${duration(Math.ceil(seconds)).replace('.0 s', ' s')}`;
}

const EXAMPLE = `schedule:
  cron: "0 6 * * 1-5"        # minute, hour, day of month, month, day of week
  timezone: Europe/Berlin    # Etc/UTC where it is left out
  summary: Morning sweep`;

export interface SchedulesInput {
  schedules: ScheduleLine[];
  page: number;
  /** The last run of each pipeline, whatever started it. */
  last: ReadonlyMap<string, NewestRun>;
  now: number;
}

/** The source of a run that its schedule did not start. */
const startedBy = ({ source }: NewestRun): string => (source === 'schedule' ? '' : `from ${source}`);

const soonest = (a: ScheduleLine, b: ScheduleLine): number =>
  (a.next_run ?? '9').localeCompare(b.next_run ?? '9') || a.pipeline.localeCompare(b.pipeline);

const missedWords = (count: number, last: string): string => `${count} missed in 30 days, last at ${exactTime(last)}`;

const SCHEDULES_A_PAGE = 100;

/** Pipelines with a schedule, sorted by their next run. */
export const schedulesOn = (schedules: readonly ScheduleLine[], page: number) =>
  portionOf(schedules.toSorted(soonest), {
    page,
    size: SCHEDULES_A_PAGE,
    goTo: (number) => paths.schedules({ page: number }),
  });

const lastRunOf = (run: NewestRun) => ({
  href: paths.run(run.id),
  status: statusLook(run.status, run.waiting_on),
  since: run.triggered_at,
  exact: exactTime(run.triggered_at),
  by: startedBy(run),
});

export function schedulesView({ schedules, page, last, now }: SchedulesInput) {
  const { rows, pager } = schedulesOn(schedules, page);
  const active = schedules.filter(({ suspended }) => !suspended).length;
  return {
    count: plural(schedules.length, 'schedule'),
    lead: active === schedules.length ? '' : `${schedules.length - active} suspended`,
    example: EXAMPLE,
    pager,
    rows: rows.map((schedule) => {
      const run = last.get(schedule.pipeline);
      return {
        pipeline: schedule.pipeline,
        href: paths.pipeline(schedule.pipeline),
        words: cronWords(schedule.cron),
        cron: schedule.cron,
        timezone: schedule.timezone,
        suspended: schedule.suspended,
        next: schedule.next_run === null ? null : until(schedule.next_run, now),
        exact: schedule.next_run === null ? '' : exactTime(schedule.next_run),
        missed: schedule.last_missed_at === null ? null : missedWords(schedule.missed, schedule.last_missed_at),
        last: run === undefined ? null : lastRunOf(run),
      };
    }),
  };
}
